import type { Instruction, TokenBalance, Transaction } from '../../../src/chain/transaction.ts'

/** Returns all content of a transaction as plain data, for comparison. */
export function plainTransaction(transaction: Transaction) {
  const { keys } = transaction
  return {
    signature: transaction.signature.toHex(),
    lifetime: transaction.lifetime?.toHex(),
    index: transaction.index,
    version: transaction.version,
    failed: transaction.failed,
    keys: Array.from({ length: keys.length }, (_, i) => keys.bytes(i).toHex()),
    writable: Array.from({ length: keys.length }, (_, i) => keys.isWritable(i)),
    signerCount: transaction.signerCount,
    config: transaction.config,
    feeLamports: transaction.feeLamports,
    instructions: transaction.instructions.map(plainInstruction),
    nestingKnown: transaction.nestingKnown,
    logs: transaction.logs,
    preTokenBalances: transaction.preTokenBalances.map(plainBalance),
    postTokenBalances: transaction.postTokenBalances.map(plainBalance),
    preBalances: transaction.preBalances,
    postBalances: transaction.postBalances
  }
}

function plainInstruction({ program, accounts, data, height, outerIndex, innerIndex }: Instruction) {
  return { program, accounts: Array.from(accounts), data: data.toHex(), height, outerIndex, innerIndex }
}

function plainBalance({ account, mint, owner, amount, decimals }: TokenBalance) {
  return { account, mint: mint.toHex(), owner: owner?.toHex() ?? null, amount, decimals }
}
