import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block } from '../../../src/chain/transaction.ts'
import { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { MarketSimulator, BUSY_MARKET } from '../../../src/localnet/market/simulator.ts'
import { startLocalNode } from '../../../src/localnet/node/local-node.ts'
import { MissingBlocks } from '../../../src/node/missing-blocks.ts'
import { systemPorts } from '../../../src/ports.ts'
import { until } from '../../until.ts'

const SLOT_MS = 400
/** Twenty seconds before a full hour: of each interval up to an hour, the market has a newest candle and an earlier one. */
const BEGINS_MS = Date.UTC(2026, 8, 21, 13, 59, 40)

/** Returns the first blocks of a market on a localnet, as its node serves them, some slots skipped. */
export async function marketBlocks(seed: string, count: number): Promise<Block[]> {
  const market = await openMarket(seed, count)
  await market.close()
  return market.blocks
}

/** Returns these blocks with their node, which makes no further blocks and answers until it is closed. */
export async function openMarket(
  seed: string,
  count: number
): Promise<{ readonly blocks: Block[]; readonly url: string; close(): Promise<void> }> {
  const { clock } = systemPorts
  let nowMs = BEGINS_MS
  const bank = await LocalBank.open({ clock: { ...clock, now: () => nowMs }, seed, slotMs: SLOT_MS })
  const market = new MarketSimulator({ ...BUSY_MARKET, seed }, null)
  bank.onSlot((slot, blockTime, include) => {
    for (const { transaction, accounts } of market.fill(slot, blockTime)) include(transaction, accounts)
  })
  const onFault = (fault: unknown): never => {
    throw fault
  }
  const node = await startLocalNode({ chain: bank, clock, host: '127.0.0.1', port: 0, onFault })
  const url = `http://127.0.0.1:${node.port}`
  const nodes = new MissingBlocks({
    urls: [url],
    archiveUrls: [],
    commitment: 'confirmed',
    expectedGenesis: async () => null,
    onGenesis: async () => undefined,
    onRefused: onFault,
    clock
  })
  try {
    for (let slot = 0; bank.slot('confirmed') < count; slot++) {
      nowMs += SLOT_MS
      if (slot % 11 === 7) bank.faults.skip(1)
      await bank.produceSlot()
    }
    // A node does not report a slot as skipped before it is final.
    while (bank.slot('finalized') < count) await bank.produceSlot()
    const blocks: Block[] = []
    const { signal } = new AbortController()
    // On a starved machine a request may time out, though the node has each block.
    const answered = (slot: number) => until(() => nodes.fetch(slot, signal), `slot ${slot} is answered`)
    for (let slot = bank.firstSlot; slot <= bank.slot('finalized'); slot++) {
      const block = await answered(slot)
      if (block !== 'skipped') blocks.push(block)
    }
    return {
      blocks,
      url,
      async close() {
        await node.close()
        await bank.close()
      }
    }
  } finally {
    await nodes.close()
  }
}

/** Writes blocks into a new folder as a node of their market serves them, except for their times. */
export async function recordMarket(directory: string, url: string, blocks: readonly Block[]): Promise<void> {
  mkdirSync(directory)
  const options = { encoding: 'json', transactionDetails: 'full', maxSupportedTransactionVersion: 0 }
  const headers = { 'content-type': 'application/json' }
  for (const { slot, blockTime } of blocks) {
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBlock', params: [slot, options] })
    const response = await fetch(url, { method: 'POST', headers, body: call })
    const { result } = (await response.json()) as { result: object }
    const line = JSON.stringify({ slot, block: { ...result, blockTime } })
    writeFileSync(join(directory, `${slot}.json`), line)
  }
}
