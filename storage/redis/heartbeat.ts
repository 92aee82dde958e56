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
 * Milliseconds from a heartbeat that another script has sent along until the next: an announcement is a heartbeat, and comes
 * once a second.
 */
export const BEAT_AFTER_ANOTHER_MS = 1_500

/**
 * Returns the steps of a heartbeat, of which each argument is a Lua expression: the keys of the live processes and of the
 * memory, and the id of the process. They register the process, and store the time since which the server has lost no data.
 * They define `now` and `alive`, the number of live processes. The writes that need memory come first: a server out of memory
 * refuses a script's first write, but continues a script that has written something.
 */
export const beatSteps = (processes: string, memory: string, id: string): string => `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
local memory = redis.call('HMGET', ${memory}, 'run', 'since')
if memory[1] ~= run or tonumber(memory[2]) > now then
  redis.call('HSET', ${memory}, 'run', run, 'since', string.format('%.0f', now))
end
redis.call('ZADD', ${processes}, now, ${id})
redis.call('ZREMRANGEBYSCORE', ${processes}, '-inf', now - ${PRESENCE_MS})
redis.call('ZREMRANGEBYSCORE', ${processes}, now + ${PRESENCE_MS}, '+inf')
redis.call('PEXPIRE', ${processes}, ${PRESENCE_MS * 2})
local alive = redis.call('ZCARD', ${processes})`

/** A heartbeat. Replies the number of live processes, and the time. */
export const BEAT: Script = {
  name: 'millraceBeat',
  keys: 2,
  lua: `${beatSteps('KEYS[1]', 'KEYS[2]', 'ARGV[1]')}
return { alive, now }`
}
export const beatReply = z.tuple([z.int().positive(), z.int().positive()])
