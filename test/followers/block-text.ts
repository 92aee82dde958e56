import { encodeBase58 } from '../../src/chain/base58.ts'
import { placeBlock, readRpcBlock } from '../../src/chain/rpc/block.ts'
import type { Block } from '../../src/chain/transaction.ts'
import type { LocalBlock } from '../../src/localnet/chain.ts'
import { parseJson, writeJson } from '../../src/localnet/node/json.ts'
import { encodeExecuted } from '../../src/localnet/node/transaction-encoding.ts'

/** Returns a block as a node's `getBlock` has it, with its slot. */
export function textOfBlock(block: LocalBlock): string {
  const { slot, parentSlot, blockHeight, blockTime } = block
  const transactions = block.transactions.map((each) => encodeExecuted(each, 'base64', 1))
  return writeJson({
    slot,
    parentSlot,
    blockHeight,
    blockTime,
    blockhash: encodeBase58(block.blockhash),
    previousBlockhash: encodeBase58(block.previousBlockhash),
    transactions,
    rewards: []
  })
}

export function blockOfText(text: string): Block {
  const value = parseJson(text) as { readonly slot: number }
  const outcome = readRpcBlock(value, Number(value.slot))
  if (outcome.kind !== 'block') throw new Error(`a block is ${outcome.kind}`)
  if (outcome.block.unreadable.length > 0) throw new Error('a transaction cannot be read')
  return placeBlock(outcome.block)!
}
