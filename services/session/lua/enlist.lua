-- Puts a game into the list of a player's games, unless it is there.
--
-- KEYS  the list
-- ARGV  the game; its rank; most games of the list; seconds until the list is forgotten unless it is touched

redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
