import {
  READING_CLAIM_MS,
  type ReadingClaim,
  type SharedReading,
  type SharedReadings,
  type StoredReading
} from '../../storage/port/readings.ts'
import type { Clock } from '../../src/ports.ts'

type Heard = (keys: readonly string[] | null) => void
interface Row {
  readonly reading: SharedReading
  readonly atMs: number
}

/** A server that shares readings among the gateways of a test. */
export class FakeReadingServer {
  readonly #clock: Clock
  readonly #rows = new Map<string, Row>()
  readonly #claims = new Map<string, number>()
  readonly #followers = new Map<FakeSharedReadings, Set<Heard>>()
  isAway = false
  /** Readings that were stored. */
  puts = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the readings as a new gateway sees them. */
  join({ notifies = true } = {}): FakeSharedReadings {
    const gateway = new FakeSharedReadings(this, notifies)
    this.#followers.set(gateway, new Set())
    return gateway
  }

  stored(key: string): StoredReading | null {
    const row = this.#rows.get(key)
    return row === undefined ? null : { ...row.reading, ageMs: this.#clock.now() - row.atMs }
  }

  claim(key: string, freshMs: number): ReadingClaim {
    const stored = this.stored(key)
    const nowMs = this.#clock.now()
    if (stored !== null && stored.ageMs < freshMs) return { state: 'stored', stored }
    if ((this.#claims.get(key) ?? -Infinity) > nowMs) return { state: 'elsewhere', stored }
    this.#claims.set(key, nowMs + READING_CLAIM_MS)
    return { state: 'claimed', stored }
  }

  put(reading: SharedReading): StoredReading | null {
    this.#claims.delete(reading.key)
    const before = this.stored(reading.key)
    if (before !== null && before.slot > reading.slot) return before
    this.puts++
    this.#rows.set(reading.key, { reading, atMs: this.#clock.now() })
    return null
  }

  release(key: string): void {
    this.#claims.delete(key)
  }

  publish(from: FakeSharedReadings, keys: readonly string[]): void {
    for (const [gateway, followers] of this.#followers)
      if (gateway !== from && gateway.notifies && !gateway.isDeaf) for (const heard of followers) heard(keys)
  }

  follow(gateway: FakeSharedReadings, heard: Heard): () => void {
    this.#followers.get(gateway)!.add(heard)
    return () => void this.#followers.get(gateway)!.delete(heard)
  }

  /** Tells a gateway that it may have missed changes. */
  lose(gateway: FakeSharedReadings): void {
    for (const heard of this.#followers.get(gateway)!) heard(null)
  }
}

export class FakeSharedReadings implements SharedReadings {
  readonly #server: FakeReadingServer
  readonly notifies: boolean
  /** Whether its notifications are lost. */
  isDeaf = false
  isCutOff = false

  constructor(server: FakeReadingServer, notifies: boolean) {
    this.#server = server
    this.notifies = notifies
  }

  get available(): boolean {
    return !this.isCutOff && !this.#server.isAway
  }

  async claim(asks: readonly { readonly key: string; readonly freshMs: number }[]) {
    this.#assertAvailable()
    return asks.map(({ key, freshMs }) => this.#server.claim(key, freshMs))
  }

  async put(readings: readonly SharedReading[]) {
    this.#assertAvailable()
    const newer = readings.map((reading) => this.#server.put(reading))
    this.#server.publish(
      this,
      readings.map(({ key }) => key)
    )
    return newer
  }

  async release(keys: readonly string[]): Promise<void> {
    this.#assertAvailable()
    for (const key of keys) this.#server.release(key)
  }

  async read(keys: readonly string[]) {
    this.#assertAvailable()
    return keys.map((key) => this.#server.stored(key))
  }

  subscribe(heard: Heard): () => void {
    return this.#server.follow(this, heard)
  }

  #assertAvailable(): void {
    if (!this.available) throw new Error('the server is unreachable')
  }
}
