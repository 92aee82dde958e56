import { Pool } from 'undici'
import { signatureHeaders, signingKeysOf } from '../../src/webhooks/signature.ts'
import { BARE_PATH } from './plan.ts'

const KEYS = [signingKeysOf(`whsec_${Buffer.alloc(32, 7).toString('base64')}`)]
const BATCH_ID = '0b6f2a52-7f5e-4d0c-9d53-0c1f0f6a1c11'

/** Sends bodies in a loop with undici alone, each with both signatures. */
export class BareLoop {
  readonly #pools: readonly Pool[]

  constructor(ports: readonly number[]) {
    const options = { connections: null, pipelining: 1, allowH2: false } as const
    this.#pools = ports.map((port) => new Pool(`http://127.0.0.1:${port}`, options))
  }

  /** Makes a number of POSTs, several of them concurrently. */
  async run(bodies: readonly Buffer[], posts: number, atOnce: number): Promise<void> {
    let sent = 0
    const sendAll = async (): Promise<void> => {
      while (sent < posts) {
        const n = sent++
        await this.#send(this.#pools[n % this.#pools.length]!, bodies[n % bodies.length]!)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, sendAll))
  }

  async #send(pool: Pool, body: Buffer): Promise<void> {
    const signed = signatureHeaders(KEYS, { webhookId: 7, batchId: BATCH_ID, body, nowMs: Date.now() })
    const headers = { 'content-type': 'application/json', 'user-agent': 'bare', ...signed }
    const answer = await pool.request({ method: 'POST', path: BARE_PATH, headers, body })
    if (answer.statusCode !== 200) throw new Error(`a receiver answered ${answer.statusCode}`)
    await answer.body.dump()
  }
}
