-- Forgets a dead process, once it shows nothing any more.
--
-- KEYS  the due work of a bucket, what the process shows
-- ARGV  name of the process

if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('ZREM', KEYS[1], 'dead ' .. ARGV[1])
end
return 1
