import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import type { Clock } from '../../src/ports.ts'
import type { CqlClient } from './client.ts'
import { batchesOf } from './row-write.ts'
import type { RowWrite } from './row-write.ts'

/** Maximum writes that wait or are in flight: five seconds of 2,000 a second. Further ones are refused. */
const WRITING_MAX = 10_000
/**
 * Milliseconds that a write waits for others of its partition. Of 20 tenants with 100 writes a second each, five share a
 * request.
 */
const GATHER_MS = 50
/** Maximum requests in flight: blocks need the server, too. With 5 ms each, 1,600 partitions a second. */
const REQUESTS_MAX = 8

/** Writes of one partition that wait, and the callers that wait for them. */
interface Gathering {
  /** By name: a later write takes the place of an earlier one. */
  readonly rows: Map<string, RowWrite>
  readonly callers: PromiseWithResolvers<void>
  size: number
}

/**
 * Writes of hot values, of which those of one partition share a batch. Writes that come while earlier ones are in flight
 * follow together.
 */
export class GatheredRows {
  readonly #client: CqlClient
  readonly #clock: Clock
  #gathering = new Map<string, Gathering>()
  /** Gathered writes that wait for a request. */
  readonly #queue: Gathering[] = []
  readonly #inFlight = new Set<Promise<void>>()
  #timer: unknown = null
  #writing = 0

  constructor(client: CqlClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** Writes a row of a partition. It replaces a waiting one of the same name. Rejects with STORAGE_UNAVAILABLE. */
  async write(partition: string, name: string, row: RowWrite): Promise<void> {
    this.#client.assertOpen()
    if (this.#writing >= WRITING_MAX)
      throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `${WRITING_MAX} writes of hot values are under way`)
    const gathering = this.#gatheringOf(partition)
    gathering.rows.set(name, row)
    gathering.size++
    this.#writing++
    this.#gatherOn()
    return gathering.callers.promise
  }

  /** Sends the writes that wait, at once, and resolves after all have ended. */
  async close(): Promise<void> {
    this.#flush(Infinity)
    await Promise.all(this.#inFlight)
  }

  #gatheringOf(partition: string): Gathering {
    const known = this.#gathering.get(partition)
    if (known !== undefined) return known
    const gathering: Gathering = { rows: new Map(), callers: Promise.withResolvers(), size: 0 }
    this.#gathering.set(partition, gathering)
    return gathering
  }

  /** Schedules the gathered writes: in GATHER_MS, or after the requests in flight. */
  #gatherOn(): void {
    if (this.#gathering.size === 0 || this.#inFlight.size > 0) return
    this.#timer ??= this.#clock.setTimeout(() => this.#flush(REQUESTS_MAX), GATHER_MS)
  }

  #flush(requestsMax: number): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = null
    this.#queue.push(...this.#gathering.values())
    this.#gathering = new Map()
    this.#send(requestsMax)
  }

  #send(requestsMax: number): void {
    while (this.#inFlight.size < requestsMax && this.#queue.length > 0) {
      const written = this.#write(this.#queue.shift()!).finally(() => {
        this.#inFlight.delete(written)
        this.#send(REQUESTS_MAX)
        this.#gatherOn()
      })
      this.#inFlight.add(written)
    }
  }

  /** Never rejects: the callers get the error. */
  async #write({ rows, callers, size }: Gathering): Promise<void> {
    try {
      await Promise.all(batchesOf([...rows.values()]).map((batch) => this.#client.write(batch)))
      callers.resolve()
    } catch (error) {
      callers.reject(error)
    } finally {
      this.#writing -= size
    }
  }
}
