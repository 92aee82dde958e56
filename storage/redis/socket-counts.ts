import { z } from 'zod'
import type { RedisConnection } from './connection.ts'
import { PRESENCE_MS } from './heartbeat.ts'
import type { RunScript, Script } from './script.ts'

/** TTL of a key's counts, in seconds. Every process restores its counts more often. */
const TTL_SECONDS = 86_400
/** Keys whose counts are restored in one round trip. */
const RESTORED_AT_ONCE = 100

/**
 * Takes a place for a socket, unless the live processes hold the maximum together. Counts of processes without a
 * heartbeat are deleted, because their sockets are closed. Replies with whether the place was taken.
 */
const TAKE: Script = {
  name: 'millraceTakeSocket',
  keys: 2,
  lua: `
local time = redis.call('TIME')
local since = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[4]
local counts = redis.call('HGETALL', KEYS[1])
local all = 0
for at = 1, #counts, 2 do
  local beat = redis.call('ZSCORE', KEYS[2], counts[at])
  if counts[at] == ARGV[1] or (beat and tonumber(beat) >= since) then
    all = all + tonumber(counts[at + 1])
  else
    redis.call('HDEL', KEYS[1], counts[at])
  end
end
if all >= tonumber(ARGV[2]) then return 0 end
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1`
}

const RELEASE: Script = {
  name: 'millraceReleaseSocket',
  keys: 1,
  lua: `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then return 1 end
return redis.call('HDEL', KEYS[1], ARGV[1])`
}

const RESTORE: Script = {
  name: 'millraceRestoreSockets',
  keys: 1,
  lua: `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return redis.call('EXPIRE', KEYS[1], ARGV[3])`
}

const takeReply = z.literal([0, 1])

/** The sockets of each API key in Redis, counted by process. */
export class RedisSocketCounts {
  readonly #connection: RedisConnection
  readonly #take: RunScript
  readonly #release: RunScript
  readonly #restore: RunScript

  constructor(connection: RedisConnection) {
    this.#connection = connection
    this.#take = connection.define(TAKE)
    this.#release = connection.define(RELEASE)
    this.#restore = connection.define(RESTORE)
  }

  get available(): boolean {
    return this.#connection.available
  }

  onChange(listener: (available: boolean) => void): () => void {
    return this.#connection.onChange(listener)
  }

  /** Takes a place of a key; false if all processes together have `max`. Rejects while the server is unavailable. */
  async take(keyId: string, max: number): Promise<boolean> {
    const keys = [this.#keyOf(keyId), this.#connection.key('processes')]
    const args = [this.#connection.id, max, TTL_SECONDS, PRESENCE_MS]
    return takeReply.parse(await this.#take(keys, args)) === 1
  }

  /** Returns a place of a key. Rejects while the server is unavailable. */
  async release(keyId: string): Promise<void> {
    await this.#release([this.#keyOf(keyId)], [this.#connection.id])
  }

  /** Replaces the counts of this process. Rejects while the server is unavailable. */
  async restore(counts: ReadonlyMap<string, number>): Promise<void> {
    const all = [...counts]
    for (let at = 0; at < all.length; at += RESTORED_AT_ONCE)
      await Promise.all(
        all
          .slice(at, at + RESTORED_AT_ONCE)
          .map(([keyId, count]) =>
            this.#restore([this.#keyOf(keyId)], [this.#connection.id, count, TTL_SECONDS])
          )
      )
  }

  #keyOf(keyId: string): string {
    return this.#connection.key('sockets', keyId)
  }
}
