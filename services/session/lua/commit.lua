-- Puts a step into a game, if the game is where the step began: all of it or nothing.
--
-- KEYS  the game, its log, its feed, the wake-up channel of its bucket, the due work of its bucket
-- ARGV  1 version where the step began; 2 version after it; 3 state; 4 mark; 5 seat; 6 the seat's answer;
--       7 fingerprints, one for each input; 8 bytes of a fingerprint; 9 fingerprints in a chunk; 10 entry of the feed;
--       11 entries the feed keeps; 12 seconds until the game is forgotten, 0 while it goes on; 13 id of the game;
--       14 the work that looks after the game; 15 milliseconds after its end when it is done; 16 bytes of orders that the
--       seat changes; 17 most bytes that it may change in all; 18 number of what
--       follows until the entries of the log: fields of the game with their values
-- Gives the position of the entry; 0 if the game is elsewhere, closed or nowhere; -1 if the seat has changed its orders
-- too much.

local found = redis.call('HMGET', KEYS[1], 'version', 'closed')
if found[1] ~= ARGV[1] or found[2] then
  return 0
end
if ARGV[16] ~= '0' then
  local changed = (redis.call('HGET', KEYS[1], 'o' .. ARGV[5]) or 0) + ARGV[16]
  if changed > tonumber(ARGV[17]) then
    return -1
  end
  redis.call('HSET', KEYS[1], 'o' .. ARGV[5], changed)
end

redis.call('HSET', KEYS[1], 'version', ARGV[2], 'state', ARGV[3], 'mark', ARGV[4], 'a' .. ARGV[5], ARGV[6])

local version, width, per_chunk = tonumber(ARGV[1]), tonumber(ARGV[8]), tonumber(ARGV[9])
for number = 0, #ARGV[7] / width - 1 do
  -- Chunks, as one string for all would be written anew with each move.
  local chunk = math.floor((version + number) / per_chunk)
  local fingerprints = (redis.call('HGET', KEYS[1], 'r' .. chunk) or '')
    .. string.sub(ARGV[7], number * width + 1, (number + 1) * width)
  redis.call('HSET', KEYS[1], 'r' .. chunk, fingerprints)
  if #fingerprints == width * per_chunk then
    file(KEYS[1], chunk, fingerprints, width)
  end
end

local log = 19 + tonumber(ARGV[18])
if log > 19 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 19, log - 1))
end
redis.call('RPUSH', KEYS[2], unpack(ARGV, log))

local position = redis.call('HINCRBY', KEYS[1], 'position', 1)
redis.call('XADD', KEYS[3], 'MAXLEN', ARGV[11], position .. '-0', 'e', ARGV[10])

if ARGV[12] ~= '0' then
  for key = 1, 3 do
    redis.call('EXPIRE', KEYS[key], ARGV[12])
  end
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[5], 'XX', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[15], ARGV[14])
end
tell(KEYS[1], KEYS[4], ARGV[13], KEYS[5])
return position
