import { z } from 'zod'
import { PRESENCE_MS, PROCESSES_MAX, type HeardProcesses, type Presence } from '../cluster/coordination.ts'
import type { RedisConnection } from './connection.ts'
import { beatSteps } from './heartbeat.ts'
import type { RunScript, Script } from './script.ts'

/**
 * Stores an announcement, which is a heartbeat too, and replies all of them, the newest first: the number of live processes, the
 * time, and the milliseconds since the server lost data, then id, text and age of each. All times are the server's, so the
 * clocks of the processes do not matter. Announcements from a time to come are those from before the clock was set back.
 */
const ANNOUNCE: Script = {
  name: 'millraceAnnounce',
  keys: 4,
  lua: `${beatSteps('KEYS[4]', 'KEYS[3]', 'ARGV[5]')}
local since = tonumber(redis.call('HGET', KEYS[3], 'since') or now)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
for _, range in ipairs({ { '-inf', now - ARGV[3] }, { now + ARGV[3], '+inf' } }) do
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], range[1], range[2])) do
    redis.call('ZREM', KEYS[1], gone)
    redis.call('HDEL', KEYS[2], gone)
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[3] * 2)
redis.call('PEXPIRE', KEYS[2], ARGV[3] * 2)
local reply = { alive, now, math.max(0, now - since) }
local heard = redis.call('ZREVRANGE', KEYS[1], 0, ARGV[4] - 1, 'WITHSCORES')
for at = 1, #heard, 2 do
  reply[#reply + 1] = heard[at]
  reply[#reply + 1] = redis.call('HGET', KEYS[2], heard[at]) or ''
  reply[#reply + 1] = math.max(0, now - heard[at + 1])
end
return reply`
}

const LEAVE: Script = {
  name: 'millraceLeave',
  keys: 2,
  lua: `
redis.call('HDEL', KEYS[2], ARGV[1])
return redis.call('ZREM', KEYS[1], ARGV[1])`
}

const announceReply = z.tuple(
  [z.int().positive(), z.int().positive(), z.int().nonnegative()],
  z.union([z.string(), z.int().nonnegative()])
)

/** Announcements of the processes of a service in Redis. Those of dead processes are removed after `PRESENCE_MS`. */
export class RedisPresence implements Presence {
  readonly #connection: RedisConnection
  readonly #keys: readonly string[]
  readonly #announce: RunScript
  readonly #leave: RunScript

  constructor(connection: RedisConnection) {
    this.#connection = connection
    this.#keys = [connection.key('fleet', 'times'), connection.key('fleet', 'texts')]
    this.#announce = connection.define(ANNOUNCE)
    this.#leave = connection.define(LEAVE)
  }

  async announce(id: string, text: string): Promise<HeardProcesses> {
    const { id: processId, memoryKey, processesKey } = this.#connection
    const args = [id, text, PRESENCE_MS, PROCESSES_MAX, processId]
    const reply = await this.#announce([...this.#keys, memoryKey, processesKey], args)
    const [alive, nowMs, coversMs, ...heard] = announceReply.parse(reply)
    this.#connection.tookBeat(alive, nowMs)
    const processes = Array.from({ length: heard.length / 3 }, (_, at) => ({
      id: String(heard[at * 3]),
      text: String(heard[at * 3 + 1]),
      silentMs: Number(heard[at * 3 + 2])
    }))
    return { coversMs, processes }
  }

  async leave(id: string): Promise<void> {
    await this.#leave(this.#keys, [id]).catch(() => undefined)
  }
}
