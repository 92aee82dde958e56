import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeBase58 } from '../chain/base58.ts'
import type { Clock } from '../ports.ts'
import { LocalBank } from './bank/bank.ts'
import { DAY_MS } from './market/past.ts'
import { BUSY_MARKET, MarketSimulator, USUAL_MARKET, type MarketSettings } from './market/simulator.ts'
import { startLocalNode, type LocalNode } from './node/local-node.ts'
import { PastMaker } from './past-maker.ts'

const MARKETS = { usual: USUAL_MARKET, busy: BUSY_MARKET } as const

function isMarket(name: string): name is keyof typeof MARKETS {
  return Object.hasOwn(MARKETS, name)
}

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
  /** The past of a new chain; a day unless given. A chain that has begun stays as it is. */
  readonly past?: 'day' | 'none'
  /**
   * How much the market does: `usual` keeps an idle service cheap, `busy` has something of everything within some hundred
   * slots. Kept with the chain; `usual` where none is given.
   */
  readonly market?: keyof typeof MARKETS
  /** Hears how many blocks of the past were made, and within how many milliseconds. */
  readonly onPast?: (blocks: number, ms: number) => void
  /** Memory for blocks that its node has rendered; left out, as much as is of use. */
  readonly renderedBytes?: number
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
  /** Makes what is missing of the past, then slots until the signal aborts; rejects where a block cannot be written. */
  run(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Opens the localnet of a directory where it was left, or makes a new one. */
export async function openLocalnet(options: LocalnetOptions): Promise<Localnet> {
  const { directory, clock, slotMs, past = 'day' } = options
  await mkdir(directory, { recursive: true })
  // Two localnets that have nothing to do with each other have different seeds, and so different genesis hashes.
  const seed = await keptText(join(directory, 'seed'), options.seed ?? randomBytes(8).toString('hex'))
  const market = await keptText(join(directory, 'market'), options.market ?? 'usual')
  if (!isMarket(market)) throw new RangeError(`${join(directory, 'market')} names no market: ${market}`)
  const pace = slotMs === undefined ? {} : { slotMs }
  const genesisMs = past === 'day' ? clock.now() - DAY_MS : clock.now()
  const chain = { directory: join(directory, 'chain'), genesisMs }
  const bank = await LocalBank.open({ clock, seed, ...chain, ...pace })
  try {
    const maker = PastMaker.of(bank, clock, past === 'day')
    openMarket(bank, { ...MARKETS[market], seed }, maker)
    const node = await listen(bank, options)
    return {
      bank,
      node,
      rpcUrl: `http://${node.host}:${node.port}`,
      genesis: encodeBase58(bank.genesisHash),
      async run(signal) {
        await maker?.run(signal, options.onPast)
        await bank.run(signal)
      },
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
function openMarket(bank: LocalBank, settings: MarketSettings, past: PastMaker | null): void {
  const kept = {
    part: (name: string) => bank.note(name),
    account: (address: Uint8Array) => bank.account(address)
  }
  const market = new MarketSimulator(settings, kept)
  bank.onSlot((slot, blockTime, include, keep) => {
    const filled = market.fill(slot, blockTime, past?.paceOf(slot))
    for (const { transaction, accounts } of filled) include(transaction, accounts)
    for (const [name, part] of market.takeParts()) keep(name, part)
    past?.note(slot, keep)
  })
}

async function listen(bank: LocalBank, { port, ...rest }: LocalnetOptions): Promise<LocalNode> {
  const { clock, host, onFault, renderedBytes } = rest
  const options = { chain: bank, clock, host, onFault, renderedBytes }
  try {
    return await startLocalNode({ ...options, port })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return startLocalNode({ ...options, port: 0 })
  }
}

/** The text of a file that is kept with the chain; written where it is missing. */
async function keptText(file: string, given: string): Promise<string> {
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (kept !== null) return kept.trim()
  await writeFile(file, `${given}\n`)
  return given
}
