-- Ends a game that has no outcome.
--
-- KEYS  the game, its log, its feed, the wake-up channel of its bucket, the due work of its bucket
-- ARGV  1 version where it is to be; 2 meta; 3 mark; 4 entry of the feed; 5 entries the feed keeps; 6 seconds until the
--       game is forgotten; 7 id of the game; 8 the work that looks whether it is abandoned
-- Gives 1, or 0 if the game is elsewhere, over (then it is to be forgotten) or nowhere.

if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] or redis.call('TTL', KEYS[1]) >= 0 then
  return 0
end

redis.call('HSET', KEYS[1], 'meta', ARGV[2], 'mark', ARGV[3], 'closed', '1')
local position = redis.call('HINCRBY', KEYS[1], 'position', 1)
redis.call('XADD', KEYS[3], 'MAXLEN', ARGV[5], position .. '-0', 'e', ARGV[4])
for key = 1, 3 do
  redis.call('EXPIRE', KEYS[key], ARGV[6])
end
redis.call('ZREM', KEYS[5], ARGV[8])
tell(KEYS[1], KEYS[4], ARGV[7], KEYS[5])
return 1
