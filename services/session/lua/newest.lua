-- The newest entry of a feed.
--
-- KEYS  the feed

local found = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return found and found[2][2]
