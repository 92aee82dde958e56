import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeBase58 } from '../chain/base58.ts'
import type { Clock } from '../ports.ts'
import { LocalBank } from './bank/bank.ts'
import { MarketSimulator, USUAL_MARKET } from './market/simulator.ts'
import { startLocalNode, type LocalNode } from './node/local-node.ts'

export interface LocalnetOptions {
  /** Where the chain is kept; made where it is missing. */
  readonly directory: string
  readonly host: string
  /** Of JSON-RPC, with pubsub on it and on the next one; where one of them is taken, two free ones are. 0: two free ones. */
  readonly port: number
  readonly clock: Clock
  /** What the chain and its market follow from; kept with the chain, made by chance where none is given. */
  readonly seed?: string
  /**
   * From one slot to the next; 400 where none is given. A chain may be opened at another pace each time: block times are the
   * clock's in whole seconds, so that slots share one at a fast pace, and the market does as much a slot at any pace.
   */
  readonly slotMs?: number
  /** Hears of faults of ours in answers of the node. */
  readonly onFault: (error: unknown) => void
}

/** A chain of its own with a market on it, that listens as a node does. */
export interface Localnet {
  readonly bank: LocalBank
  readonly node: LocalNode
  readonly rpcUrl: string
  /** In base58. */
  readonly genesis: string
  /** Makes slots until the signal aborts; rejects where a block cannot be written. */
  run(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Opens the localnet of a directory where it was left, or makes a new one. */
export async function openLocalnet(options: LocalnetOptions): Promise<Localnet> {
  const { directory, clock, slotMs } = options
  await mkdir(directory, { recursive: true })
  const seed = await seedOf(directory, options.seed)
  const pace = slotMs === undefined ? {} : { slotMs }
  const bank = await LocalBank.open({ clock, seed, directory: join(directory, 'chain'), ...pace })
  try {
    openMarket(bank, seed)
    const node = await listen(bank, options)
    return {
      bank,
      node,
      rpcUrl: `http://${node.host}:${node.port}`,
      genesis: encodeBase58(bank.genesisHash),
      run: (signal) => bank.run(signal),
      async close() {
        await node.close()
        await bank.close()
      }
    }
  } catch (error) {
    await bank.close()
    throw error
  }
}

/** The market fills the chain's slots, and goes on with it from what is kept there. */
function openMarket(bank: LocalBank, seed: string): void {
  const kept = {
    part: (name: string) => bank.note(name),
    account: (address: Uint8Array) => bank.account(address)
  }
  const market = new MarketSimulator({ ...USUAL_MARKET, seed }, kept)
  bank.onSlot((slot, blockTime, include, keep) => {
    for (const { transaction, accounts } of market.fill(slot, blockTime)) include(transaction, accounts)
    for (const [name, part] of market.takeParts()) keep(name, part)
  })
}

async function listen(bank: LocalBank, { host, port, clock, onFault }: LocalnetOptions): Promise<LocalNode> {
  const options = { chain: bank, clock, host, onFault }
  try {
    return await startLocalNode({ ...options, port })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return startLocalNode({ ...options, port: 0 })
  }
}

/** Two localnets that have nothing to do with each other have different ones, and so different genesis hashes. */
async function seedOf(directory: string, given: string | undefined): Promise<string> {
  const file = join(directory, 'seed')
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (kept !== null) return kept.trim()
  const seed = given ?? randomBytes(8).toString('hex')
  await writeFile(file, `${seed}\n`)
  return seed
}
