import { z } from 'zod'
import type { Script } from './script.ts'

/**
 * Heartbeat interval of a process, in milliseconds. An outage shows within a heartbeat and its timeout, at the cost of one
 * script a second.
 */
export const BEAT_MS = 1_000
/**
 * Milliseconds without a heartbeat after which a process no longer counts. Five heartbeats, so that one late heartbeat does
 * not change the shares of a quota.
 */
export const PRESENCE_MS = 5_000
/**
 * Registers a live process, and stores the time since which the server has lost no data. The writes that need memory come
 * first: a server out of memory refuses a script's first write, but continues a script that has written something.
 */
export const BEAT: Script = {
  name: 'millraceBeat',
  keys: 2,
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
local memory = redis.call('HMGET', KEYS[2], 'run', 'since')
if memory[1] ~= run or tonumber(memory[2]) > now then
  redis.call('HSET', KEYS[2], 'run', run, 'since', string.format('%.0f', now))
end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ARGV[2], '+inf')
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
return { redis.call('ZCARD', KEYS[1]), now }`
}
export const beatReply = z.tuple([z.int().positive(), z.int().positive()])
