-- Shows a seat as connected, by a process.
--
-- KEYS  the game, its feed, the wake-up channel of its bucket, the due work of its bucket, what the process shows
-- ARGV  1 seat; 2 name of the process; 3 entry of the feed, should the seat not be shown yet; 4 its mark;
--       5 its time in milliseconds since 1970; 6 entries the feed keeps; 7 id of the game
-- Gives 1; 0 if the game is over or nowhere; -1 if the process counts as dead.

if not redis.call('ZSCORE', KEYS[4], 'alive ' .. ARGV[2]) then
  return -1
end
-- A game that is over is to be forgotten.
if redis.call('TTL', KEYS[1]) ~= -1 then
  return 0
end

local name, processes = ' ' .. ARGV[2] .. ' ', redis.call('HGET', KEYS[1], 'c' .. ARGV[1]) or ''
if not string.find(processes, name, 1, true) then
  redis.call('HSET', KEYS[1], 'c' .. ARGV[1], processes .. name)
end
redis.call('SADD', KEYS[5], ARGV[7] .. ' ' .. ARGV[1])
if redis.call('HEXISTS', KEYS[1], 's' .. ARGV[1]) == 0 then
  redis.call('HSET', KEYS[1], 's' .. ARGV[1], ARGV[5], 'mark', ARGV[4])
  local position = redis.call('HINCRBY', KEYS[1], 'position', 1)
  redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[6], position .. '-0', 'e', ARGV[3])
  tell(KEYS[1], KEYS[3], ARGV[7], KEYS[4])
end
return 1
