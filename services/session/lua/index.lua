-- An index of the fingerprints of a game that goes on, so that looking for one takes no longer in a long game. Each chunk
-- is filed once it is full: in one of a few lists, by the first byte of each fingerprint, an entry of the next two bytes
-- and the number of the chunk in two bytes. A fingerprint that was not filed is found to be once in 65,536 / (inputs / 16).

local lists, entry_width = 16, 4

local function list_of(fingerprint)
  return 'i' .. string.byte(fingerprint) % lists
end

local function file(game, number, chunk, width)
  local filed, nothing = {}, string.rep('\0', width)
  for start = 1, #chunk, width do
    local fingerprint = string.sub(chunk, start, start + width - 1)
    if fingerprint ~= nothing then
      local list = list_of(fingerprint)
      filed[list] = (filed[list] or redis.call('HGET', game, list) or '')
        .. string.sub(fingerprint, 2, 3) .. string.char(math.floor(number / 256), number % 256)
    end
  end
  for list, entries in pairs(filed) do
    redis.call('HSET', game, list, entries)
  end
end

-- The next place of some bytes among items of a width, from a place on.
local function next_place(items, bytes, width, from)
  local start = string.find(items, bytes, from, true)
  while start and start % width ~= 1 do
    start = string.find(items, bytes, start + 1, true)
  end
  return start
end

-- The chunks in which a fingerprint may be filed, by its first bytes.
local function filed_in(game, fingerprint)
  local entries, numbers = redis.call('HGET', game, list_of(fingerprint)) or '', {}
  local place = next_place(entries, string.sub(fingerprint, 2, 3), entry_width, 1)
  while place do
    numbers[#numbers + 1] = string.byte(entries, place + 2) * 256 + string.byte(entries, place + 3)
    place = next_place(entries, string.sub(fingerprint, 2, 3), entry_width, place + 1)
  end
  return numbers
end
