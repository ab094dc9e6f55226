-- The inputs that answered a decision. Decisions are numbered as they are asked, so that their answers lie together and
-- can be found by halving.
--
-- KEYS  the log
-- ARGV  number of the decision; version up to which to look
-- Gives pairs: the version that an input made, and the input.

local wanted, at_once = tonumber(ARGV[1]), 32

-- The next input from a place (counted from 0) on that answers a decision, before another place; inputs that are orders
-- answer none.
local function next_answer(place, stop)
  while place < stop do
    for number, entry in ipairs(redis.call('LRANGE', KEYS[1], place, math.min(place + at_once, stop) - 1)) do
      local decision = cmsgpack.unpack(entry)[2]
      if type(decision) == 'number' then
        return place + number - 1, decision, entry
      end
    end
    place = place + at_once
  end
end

local length = math.min(redis.call('LLEN', KEYS[1]), tonumber(ARGV[2]))
local first, stop = 0, length
while first < stop do
  local middle = math.floor((first + stop) / 2)
  local place, decision = next_answer(middle, stop)
  if place and decision < wanted then
    first = place + 1
  else
    stop = middle
  end
end

local found = {}
local place, decision, entry = next_answer(first, length)
while decision == wanted do
  found[#found + 1] = { place + 1, entry }
  place, decision, entry = next_answer(place + 1, length)
end
return found
