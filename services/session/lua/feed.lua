-- The entries of a feed that are shown.
--
-- KEYS  the game, its feed
-- ARGV  position of the first

local shown = redis.call('HGET', KEYS[1], 'shown')
return redis.call('XRANGE', KEYS[2], ARGV[1] .. '-0', shown and shown .. '-0' or '+')
