import type { Storage } from '../../../storage/port.ts'
import { pubkeyFromBase58 } from '../../chain/pubkey.ts'
import type { Config } from '../../kernel/config/config.ts'
import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import { NodeError } from '../../node/node-fault.ts'
import { sleep, systemPorts } from '../../ports.ts'
import { openStoreToRead } from '../../store/opening.ts'
import { RpcHistoryNode } from '../history-node.ts'
import { checkLedger, type LedgerCheck } from '../ledger-check.ts'
import { LedgerReader } from '../ledger-reader.ts'
import type { WatchedAddress } from '../watched-address.ts'
import { WatchedAddresses } from '../watched-addresses.ts'

/** Timeout until a running service has the slot of the node's answer, and the poll interval, in milliseconds. */
const REACH_MS = 30_000
const POLL_INTERVAL_MS = 2_000

/**
 * Compares the ledgers of watched addresses with the node: the first balance of each account, plus all changes, equals its
 * balance now. Prints each difference as a line of JSON. Resolves with 1 if a ledger differs, may lack rewards or cannot be
 * compared.
 */
export async function verifyRevenue({
  config,
  operands,
  stdout,
  stderr,
  interrupted
}: Pick<Invocation, 'config' | 'operands' | 'stdout' | 'stderr' | 'interrupted'>): Promise<number> {
  const named = addressesOf(operands)
  const urls = config.archiveRpcUrl.length > 0 ? config.archiveRpcUrl : config.rpcUrl
  const node = new RpcHistoryNode(() => urls, systemPorts.clock, config.revenueBackfillRps)
  const store = new ReadStore(config, (line) => stderr(`millrace: ${line}`))
  const counts = { ledgers: 0, accounts: 0, differences: 0, holes: 0, uncompared: 0 }
  try {
    const all = (await new WatchedAddresses((await store.current()).documents).all()).map(
      ({ value }) => value
    )
    const watched = all.filter(({ address }) => named.size === 0 || named.has(address))
    for (const address of named)
      if (!watched.some((each) => each.address === address)) {
        counts.uncompared++
        stderr(`millrace: no tenant watches ${address}`)
      }
    for (const each of watched) {
      const check = await comparedWith(node, store, each, interrupted)
      if (typeof check === 'string') {
        counts.uncompared++
        stderr(`millrace: the ledger of ${each.address} of tenant ${each.tenant} is not compared: ${check}`)
        continue
      }
      counts.ledgers++
      counts.accounts += check.accounts
      counts.differences += check.differences.length
      if (check.unrewarded !== null) counts.holes++
      for (const line of linesOf(each, check)) stdout(line)
    }
  } catch (error) {
    if (!interrupted.aborted && !(error instanceof NodeError)) throw error
    stderr(`millrace: ${interrupted.aborted ? 'interrupted' : (error as Error).message}`)
    return 1
  } finally {
    await Promise.all([node.close(), store.close()])
  }
  const { ledgers, accounts, differences, holes, uncompared } = counts
  stderr(
    `millrace: ${accounts} accounts of ${ledgers} ledgers compared, ${differences} differences, ${holes} ledgers that may lack rewards, ${uncompared} ledgers not compared`
  )
  return differences + holes + uncompared > 0 ? 1 : 0
}

function addressesOf(operands: readonly string[]): ReadonlySet<string> {
  for (const text of operands)
    try {
      pubkeyFromBase58(text)
    } catch {
      throw new BadUsage(`verify --revenue takes addresses, not ${text}`)
    }
  return new Set(operands)
}

/** Compares a ledger; resolves with the reason, for people, if that is not possible. */
async function comparedWith(
  node: RpcHistoryNode,
  store: ReadStore,
  watched: WatchedAddress,
  signal: AbortSignal
): Promise<LedgerCheck | string> {
  if (watched.captureFrom === null) return 'it has not begun'
  const storeAt = (slot: number) => store.at(slot, signal)
  const check = await checkLedger(watched, { node, storeAt, pause: async () => undefined }, signal)
  return check ?? 'it ends before the node’s newest finalized block; start the service, and retry'
}

/** Formats the differences of a ledger, a line each, and the slots in which rewards may be missing. */
function linesOf(
  { tenant, address }: WatchedAddress,
  { slot, differences, unrewarded }: LedgerCheck
): readonly string[] {
  const balances = differences.map(({ account, mint, isNative, ledger, chain }) => ({
    ...{ kind: 'balance', tenant, address, account, mint },
    ...{ is_native: isNative, slot, ledger, chain }
  }))
  const hole = unrewarded && { from_slot: unrewarded.from, to_slot: unrewarded.to }
  const holes = hole === null ? [] : [{ kind: 'hole', tenant, address, reason: 'rewards-absent', ...hole }]
  return [...balances, ...holes].map((line) => JSON.stringify(line))
}

/** A store for reading; for an embedded store that a service has open, snapshots of it. */
class ReadStore {
  readonly #config: Config
  readonly #onSnapshot: (line: string) => void
  #storage: Storage | null = null
  #isSnapshot = false

  constructor(config: Config, onSnapshot: (line: string) => void) {
    this.#config = config
    this.#onSnapshot = onSnapshot
  }

  async current(): Promise<Storage> {
    return (this.#storage ??= await openStoreToRead(this.#config, () => {
      if (!this.#isSnapshot)
        this.#onSnapshot('the store is open in another process; comparing snapshots of it')
      this.#isSnapshot = true
    }))
  }

  /** Resolves with the store once its ledgers end at or after a slot; with null after a timeout. */
  async at(slot: number, signal: AbortSignal): Promise<Storage | null> {
    const untilMs = systemPorts.clock.now() + REACH_MS
    for (;;) {
      const storage = await this.current()
      const end = await new LedgerReader(storage).end()
      if (end !== null && end.slot >= slot) return storage
      if (systemPorts.clock.now() >= untilMs || signal.aborted) return null
      await sleep(systemPorts.clock, POLL_INTERVAL_MS, signal)
      if (this.#isSnapshot) await this.close()
    }
  }

  async close(): Promise<void> {
    const storage = this.#storage
    this.#storage = null
    await storage?.close()
  }
}
