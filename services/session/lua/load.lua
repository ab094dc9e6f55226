-- What is known of a game, of one seat of it, and of an earlier request of that seat, at one moment.
--
-- KEYS  the game
-- ARGV  digest of a seat token, or empty; first bytes of a request's fingerprint, or empty; bytes of a whole fingerprint;
--       fingerprints in a chunk
-- Gives meta, version, position, mark, state, how far the feed is shown if that is not all, and seat (false where there
-- is none); then, if the seat made that request before, the version it made, its fingerprint and the seat's latest
-- answer (false if none is kept). What was said made version 0. Nil: no such game.

local found = redis.call('HMGET', KEYS[1], 'meta', 'version', 'position', 'mark', 'state', 'shown', 't' .. ARGV[1])
if not found[1] then
  return false
end
if ARGV[2] == '' or not found[7] then
  return found
end

local width, per_chunk = tonumber(ARGV[3]), tonumber(ARGV[4])
local said = redis.call('HGET', KEYS[1], 'q' .. found[7]) or ''
local place = next_place(said, ARGV[2], width, 1)
if place then
  found[8], found[9], found[10] = 0, string.sub(said, place, place + width - 1), false
  return found
end

local newest = math.floor(tonumber(found[2]) / per_chunk)
local numbers = {}
if redis.call('TTL', KEYS[1]) == -1 then
  numbers = filed_in(KEYS[1], ARGV[2])
else
  -- A game that is over keeps no index, and gets no moves that would have to wait.
  for number = 0, newest - 1 do
    numbers[number + 1] = number
  end
end
numbers[#numbers + 1] = newest
local chunks = {}
for place, number in ipairs(numbers) do
  chunks[place] = 'r' .. number
end
for place, fingerprints in ipairs(redis.call('HMGET', KEYS[1], unpack(chunks))) do
  local start = fingerprints and next_place(fingerprints, ARGV[2], width, 1)
  if start then
    found[8] = numbers[place] * per_chunk + (start - 1) / width + 1
    found[9] = string.sub(fingerprints, start, start + width - 1)
    found[10] = redis.call('HGET', KEYS[1], 'a' .. found[7])
    return found
  end
end
return found
