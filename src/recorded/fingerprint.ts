import { createHash } from 'node:crypto'
import type { RpcBlock } from '../chain/rpc/block.ts'
import type { TokenBalance } from '../chain/transaction.ts'

/** Returns a digest of a block's content that does not depend on its encoding, as long as that is lossless. */
export function blockFingerprint(block: RpcBlock): string {
  const hash = createHash('sha256')
  const say = (...facts: readonly unknown[]): void => void hash.update(facts.join(',') + ';')
  say(block.blockTime, block.parentSlot, block.votes, block.transactions.length)
  for (const transaction of block.transactions) {
    const { index, version, failed, keys, feeLamports, instructions, logs } = transaction
    hash.update(transaction.signature)
    say(index, version, failed, feeLamports, keys.length)
    for (let i = 0; i < keys.length; i++) hash.update(keys.bytes(i))
    for (const { program, accounts, data, height } of instructions) {
      say(program, Array.from(accounts), height, data.length)
      hash.update(data)
    }
    say(logs?.join('\n'), transaction.preBalances, transaction.postBalances)
    for (const balance of transaction.preTokenBalances) say(...balanceFacts(balance))
    for (const balance of transaction.postTokenBalances) say(...balanceFacts(balance))
  }
  return hash.digest('hex')
}

function balanceFacts({ account, mint, owner, amount, decimals }: TokenBalance): unknown[] {
  return [account, mint.toHex(), owner?.toHex(), amount, decimals]
}
