import { z } from 'zod'
import type { RedisConnection } from './connection.ts'
import type { RunScript, Script } from './script.ts'

/** A call that is to be counted. */
export interface CountedCall {
  readonly name: string
  /** Calls that the name may make in a window. */
  readonly quota: number
  readonly windowSeconds: number
  /** Calls that are taken out of the quota, all or none; 0 only reads the count. */
  readonly cost: number
  /** Calls that the caller itself has allowed, and the window they were in; windows are numbered from 1970. */
  readonly own: { readonly window: number; readonly calls: number }
}

/** The server's answer to a counted call. */
export interface ServerCount {
  /** Whether the call is within the quota; a refused call is not counted. */
  readonly allowed: boolean
  /** Calls in the window, this one included. */
  readonly calls: number
  /** The server's clock, which decides the window: unix milliseconds. */
  readonly nowMs: number
}

/**
 * Counts a call. A server that lost its data starts from the count that each process reports. A count of another window
 * starts again, also when the clock was set back.
 */
const COUNT: Script = {
  name: 'millraceCount',
  keys: 1,
  lua: `
local time = redis.call('TIME')
local quota, seconds, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local window = math.floor(time[1] / seconds)
local counted = redis.call('HMGET', KEYS[1], 'window', 'calls')
local calls = 0
if tonumber(counted[1]) == window then calls = tonumber(counted[2]) end
if tonumber(ARGV[4]) == window then calls = math.max(calls, tonumber(ARGV[5])) end
local allowed = 0
if calls + math.max(cost, 1) <= quota then
  allowed = 1
  if cost > 0 then
    calls = calls + cost
    redis.call('HSET', KEYS[1], 'window', window, 'calls', calls)
    redis.call('EXPIRE', KEYS[1], seconds)
  end
end
return { allowed, calls, time[1] * 1000 + math.floor(time[2] / 1000) }`
}
const countReply = z.tuple([z.literal([0, 1]), z.int().nonnegative(), z.int().positive()])

/** Work that is to be added. */
export interface CountedWork {
  readonly name: string
  /** Units that a window works off. */
  readonly quota: number
  readonly windowSeconds: number
  readonly units: number
  /** Units that the caller has reported before, and the window they were in; windows are numbered from 1970. */
  readonly own: { readonly window: number; readonly units: number }
}

/**
 * Adds work. What exceeds the quota is a debt, which later windows begin with. A server that lost its data starts from the
 * units that each process reports.
 */
const CHARGE: Script = {
  name: 'millraceCharge',
  keys: 1,
  lua: `
local time = redis.call('TIME')
local quota, seconds, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local window = math.floor(time[1] / seconds)
local counted = redis.call('HMGET', KEYS[1], 'window', 'units')
local units = 0
if counted[1] then
  local passed = window - tonumber(counted[1])
  if passed >= 0 then units = math.max(0, tonumber(counted[2]) - passed * quota) end
end
if tonumber(ARGV[4]) == window then units = math.max(units, tonumber(ARGV[5])) end
units = units + cost
redis.call('HSET', KEYS[1], 'window', window, 'units', string.format('%.0f', units))
redis.call('EXPIRE', KEYS[1], seconds * (math.min(1000, math.floor(units / quota)) + 1))
return { units, time[1] * 1000 + math.floor(time[2] / 1000) }`
}
const chargeReply = z.tuple([z.int().nonnegative(), z.int().positive()])

/** Counts calls and work for all processes of a service, one round trip each. */
export class RedisRateCounter {
  readonly #connection: RedisConnection
  readonly #count: RunScript
  readonly #charge: RunScript

  constructor(connection: RedisConnection) {
    this.#connection = connection
    this.#count = connection.define(COUNT)
    this.#charge = connection.define(CHARGE)
  }

  get available(): boolean {
    return this.#connection.available
  }

  /** Number of processes that share the quotas; null before it is known. */
  get processes(): number | null {
    return this.#connection.processes
  }

  /** Returns this counter, with the number of processes that a quota is divided among; null for those that are connected. */
  sharedBy(processes: () => number | null) {
    const isAvailable = (): boolean => this.available
    const connected = (): number | null => this.processes
    return {
      get available() {
        return isAvailable()
      },
      get processes() {
        return processes() ?? connected()
      },
      count: (call: CountedCall) => this.count(call),
      charge: (work: CountedWork) => this.charge(work)
    }
  }

  /**
   * Counts a call, or reads the count with cost 0. Rejects if the server does not count it, at once while it is unreachable.
   */
  async count({ name, quota, windowSeconds, cost, own }: CountedCall): Promise<ServerCount> {
    const args = [quota, windowSeconds, cost, own.window, own.calls]
    const reply = await this.#count([this.#connection.key('rate', name)], args)
    const [allowed, calls, nowMs] = countReply.parse(reply)
    return { allowed: allowed === 1, calls, nowMs }
  }

  /**
   * Adds work, and returns the units of the window. Rejects if the server does not count it, at once while it is
   * unreachable.
   */
  async charge(work: CountedWork): Promise<{ readonly units: number; readonly nowMs: number }> {
    const { name, quota, windowSeconds, units, own } = work
    const args = [quota, windowSeconds, units, own.window, own.units]
    const [counted, nowMs] = chargeReply.parse(await this.#charge([this.#connection.key('rate', name)], args))
    return { units: counted, nowMs }
  }
}
