-- Puts a new game into the store, unless it is there.
--
-- KEYS  the game, its feed, the due work of its bucket
-- ARGV  1 the first entry of the feed; 2 the work that looks whether the game is abandoned, and 3 when in milliseconds
--       since 1970; 4 the work that tells its players, or empty, and 5 when; 6... fields of the game with their values
-- Gives the birth of the game that is there afterwards.

if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 6))
  redis.call('XADD', KEYS[2], '1-0', 'e', ARGV[1])
  redis.call('ZADD', KEYS[3], ARGV[3], ARGV[2])
  if ARGV[4] ~= '' then
    redis.call('ZADD', KEYS[3], ARGV[5], ARGV[4])
  end
end
return redis.call('HGET', KEYS[1], 'birth')
