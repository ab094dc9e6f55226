-- What is known of a game, of one seat of it, and of an earlier request of that seat, at one moment.
--
-- KEYS  the game
-- ARGV  digest of a seat token, or empty; first bytes of a request's fingerprint, or empty; bytes of a whole fingerprint;
--       fingerprints in a chunk
-- Gives meta, version, position, mark, state, how far the feed is shown if that is not all, and seat (false where there
-- is none); then, if the seat made that request
-- before, the version it made, its fingerprint and the seat's latest answer (false if none is kept). Nil: no such game.

local found = redis.call('HMGET', KEYS[1], 'meta', 'version', 'position', 'mark', 'state', 'shown', 't' .. ARGV[1])
if not found[1] then
  return false
end
if ARGV[2] == '' or not found[7] then
  return found
end

local width, per_chunk = tonumber(ARGV[3]), tonumber(ARGV[4])
local chunks = {}
for chunk = 0, math.ceil(tonumber(found[2]) / per_chunk) - 1 do
  chunks[chunk + 1] = 'r' .. chunk
end
if #chunks == 0 then
  return found
end
for number, fingerprints in ipairs(redis.call('HMGET', KEYS[1], unpack(chunks))) do
  local start = string.find(fingerprints, ARGV[2], 1, true)
  while start and start % width ~= 1 do
    start = string.find(fingerprints, ARGV[2], start + 1, true)
  end
  if start then
    found[8] = (number - 1) * per_chunk + (start - 1) / width + 1
    found[9] = string.sub(fingerprints, start, start + width - 1)
    found[10] = redis.call('HGET', KEYS[1], 'a' .. found[7])
    return found
  end
end
return found
