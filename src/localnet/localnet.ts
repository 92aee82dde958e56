import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeBase58 } from '../chain/base58.ts'
import { ServiceError } from '../kernel/errors.ts'
import type { Clock } from '../ports.ts'
import { LocalBank } from './bank/bank.ts'
import { TIP_ACCOUNT_KEYS } from './engine/tip-accounts.ts'
import { DAY_MS, PAST_SLOTS } from './market/past.ts'
import { BUSY_MARKET, MarketSimulator, USUAL_MARKET, type MarketSettings } from './market/simulator.ts'
import { startLocalNode, type LocalNode } from './node/local-node.ts'
import { PastMaker } from './past-maker.ts'

const MARKETS = { usual: USUAL_MARKET, busy: BUSY_MARKET } as const

function isMarket(name: string): name is keyof typeof MARKETS {
  return Object.hasOwn(MARKETS, name)
}

export interface LocalnetOptions {
  /** Directory of the chain; created if missing. */
  readonly directory: string
  readonly host: string
  /**
   * Port of JSON-RPC, and of pubsub, which is on the next port too. If one of them is in use, or with 0, two free ports are
   * used.
   */
  readonly port: number
  readonly clock: Clock
  /** Determines the chain and its market. Stored with the chain; random by default. */
  readonly seed?: string
  /**
   * Milliseconds per slot; 400 by default. May differ at each start: block times are the clock's in whole seconds, so
   * at a fast pace several slots share a block time. The market's activity per slot does not depend on the pace.
   */
  readonly slotMs?: number
  /** Past of a new chain; a day by default. An existing chain is not changed. */
  readonly past?: 'day' | 'none'
  /**
   * Activity of the market: `usual` keeps an idle service cheap, `busy` shows every kind of event within several hundred
   * slots. Stored with the chain; `usual` by default.
   */
  readonly market?: keyof typeof MARKETS
  /** Called with the number of past blocks made, and the duration in milliseconds. */
  readonly onPast?: (blocks: number, ms: number) => void
  /** Memory for rendered blocks; by default the largest useful amount. */
  readonly renderedBytes?: number
  /** Called for bugs while the node answers. */
  readonly onFault: (error: unknown) => void
}

/** A local chain with a market, listening like a node. */
export interface Localnet {
  readonly bank: LocalBank
  readonly node: LocalNode
  readonly rpcUrl: string
  /** Genesis hash in base58. */
  readonly genesis: string
  /** The last slot of the past that `makePast` generates; null once the past is complete. */
  readonly pastEnd: number | null
  /** Completes the past, once, unless the signal aborts; rejects if a block cannot be written. */
  makePast(signal: AbortSignal): Promise<void>
  /** Completes the past, then produces slots until the signal aborts; rejects if a block cannot be written. */
  run(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Opens the localnet of a directory where it ended, or creates one. */
export async function openLocalnet(options: LocalnetOptions): Promise<Localnet> {
  const { directory, clock, slotMs, past: requestedPast = 'day' } = options
  await mkdir(directory, { recursive: true })
  // Unrelated localnets have different seeds, and so different genesis hashes.
  const seed = await storedText(join(directory, 'seed'), options.seed ?? randomBytes(8).toString('hex'))
  const market = await storedText(join(directory, 'market'), options.market ?? 'usual')
  if (!isMarket(market))
    throw new ServiceError('STORAGE_UNAVAILABLE', `${join(directory, 'market')} names no market: ${market}`)
  const pace = slotMs === undefined ? {} : { slotMs }
  const genesisMs = requestedPast === 'day' ? clock.now() - DAY_MS : clock.now()
  const chain = { directory: join(directory, 'chain'), genesisMs }
  const bank = await LocalBank.open({ clock, seed, genesisAccounts: TIP_ACCOUNT_KEYS, ...chain, ...pace })
  try {
    const maker = PastMaker.of(bank, clock, requestedPast === 'day')
    openMarket(bank, { ...MARKETS[market], seed }, maker)
    fundTipAccounts(bank)
    let past: Promise<void> | undefined
    const makePast = (signal: AbortSignal): Promise<void> =>
      (past ??= maker?.run(signal, options.onPast) ?? Promise.resolve())
    const node = await listen(bank, options)
    return {
      bank,
      node,
      rpcUrl: `http://${node.host}:${node.port}`,
      genesis: encodeBase58(bank.genesisHash),
      pastEnd: maker === null ? null : PAST_SLOTS,
      makePast,
      async run(signal) {
        await makePast(signal)
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

/** Funds the tip accounts of a chain that an earlier version made: an account below its rent-exempt minimum takes no tip. */
function fundTipAccounts(bank: LocalBank): void {
  for (const address of TIP_ACCOUNT_KEYS)
    if (bank.account(address) === null) bank.airdrop(address, bank.minimumBalance(0))
}

/** Connects the market to the chain; the market continues from its notes there. */
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

/** Reads a text file stored with the chain; writes the given text if the file is missing. */
async function storedText(file: string, given: string): Promise<string> {
  const stored = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (stored !== null) return stored.trim()
  await writeFile(file, `${given}\n`)
  return given
}
