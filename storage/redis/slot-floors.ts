import { z } from 'zod'
import type { SharedSlotFloors } from '../cluster/coordination.ts'
import type { RedisConnection } from './connection.ts'
import type { RunScript, Script } from './script.ts'

/** TTL of a key's floors, in seconds: far longer than a node lags, so that later answers are above them anyway. */
const TTL_SECONDS = 300

/** Raises floors, which never fall, and replies them: of processed, confirmed and finalized state. Zeros only read. */
const RAISE: Script = {
  name: 'millraceRaiseFloors',
  keys: 1,
  lua: `
local floors, isRaised = {}, false
for at = 1, 3 do
  local floor = tonumber(redis.call('HGET', KEYS[1], at) or 0)
  local slot = tonumber(ARGV[at])
  if slot > floor then
    redis.call('HSET', KEYS[1], at, ARGV[at])
    floor, isRaised = slot, true
  end
  floors[at] = floor
end
if isRaised then redis.call('EXPIRE', KEYS[1], ARGV[4]) end
return floors`
}

const raiseReply = z.tuple([z.int().nonnegative(), z.int().nonnegative(), z.int().nonnegative()])

/** The newest slots that each API key has seen over all processes, in Redis. */
export class RedisSlotFloors implements SharedSlotFloors {
  readonly #connection: RedisConnection
  readonly #raise: RunScript

  constructor(connection: RedisConnection) {
    this.#connection = connection
    this.#raise = connection.define(RAISE)
  }

  get available(): boolean {
    return this.#connection.available
  }

  async raise(keyId: string, slots: readonly number[]): Promise<readonly number[]> {
    const key = this.#connection.key('floors', keyId)
    return raiseReply.parse(await this.#raise([key], [...slots, TTL_SECONDS]))
  }
}
