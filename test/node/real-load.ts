import type { Connection } from '@solana/web3.js'
import { setTimeout as delay } from 'node:timers/promises'
import { encodeBase58 } from '../../src/chain/base58.ts'
import type { RealPool } from './real-pool.ts'
import { BEYOND, moveTokens, payTo, signed, type Wallet } from './web3-flows.ts'

const PAUSE_MS = 60

/** Sends transactions of each kind to a node until it is ended; the node may be unreachable. */
export class RealLoad {
  /** Signatures of the transactions that the node accepted. */
  readonly signatures: string[] = []
  /** Signatures of trades, accepted or not. */
  readonly trades: string[] = []
  readonly #connection: Connection
  readonly #wallet: Wallet
  readonly #pool: RealPool
  readonly #done: Promise<void>
  #isOver = false
  #nth = 0

  constructor(connection: Connection, wallet: Wallet, pool: RealPool) {
    this.#connection = connection
    this.#wallet = wallet
    this.#pool = pool
    this.#done = this.#run()
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      // The node is down or restarting.
      await this.#sendSome().catch(() => delay(100))
      await delay(PAUSE_MS)
    }
  }

  /** Sends a transfer, one through a lookup table, one of tokens, one that fails, and trades of both sides. */
  async #sendSome(): Promise<void> {
    const { payer, receiver, table } = this.#wallet
    const { blockhash } = await this.#connection.getLatestBlockhash('confirmed')
    const nth = ++this.#nth
    const many = BigInt(nth)
    const trades = [
      signed([this.#pool.swap('buy', 2_000_000n + many, 1_000_000n)], [payer], blockhash),
      signed([this.#pool.swap('sell', 1_000_000n + many, 2_000_000n)], [payer], blockhash)
    ]
    this.trades.push(...trades.map(({ signatures }) => encodeBase58(signatures[0]!)))
    const transactions = [
      ...trades,
      signed([payTo(payer, receiver, 1_000 + nth)], [payer], blockhash),
      signed([payTo(payer, receiver, 1_000 + nth)], [payer], blockhash, table),
      signed([moveTokens(this.#wallet, many)], [payer], blockhash),
      signed([payTo(payer, receiver, BEYOND + nth)], [payer], blockhash)
    ]
    for (const transaction of transactions) {
      await this.#connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
      this.signatures.push(encodeBase58(transaction.signatures[0]!))
    }
  }
}
