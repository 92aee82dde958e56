import { ByteReader } from '../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../storage/codec/byte-writer.ts'
import type { TokenBalance } from '../../src/chain/transaction.ts'
import { binaryForm, type PlainTransaction } from '../recorded-block.ts'

/** Packs transactions in the form of `storage/codec`, for the transfer to another thread. */
export function packTransactions(transactions: readonly PlainTransaction[]): ArrayBuffer {
  const out = new ByteWriter()
  out.count(transactions.length)
  for (const each of transactions) {
    out.fixed(each.signature, 64)
    out.optionalCount(each.index)
    out.byte(each.version === 'legacy' ? 2 : each.version)
    out.byte((each.failed ? 1 : 0) | (each.nestingKnown ? 2 : 0))
    out.count(each.signerCount)
    out.amount(each.feeLamports)
    out.bytes(each.keyBytes)
    for (const isLocked of each.locks) out.byte(isLocked ? 1 : 0)
    out.count(each.instructions.length)
    for (const { program, accounts, data, height, outerIndex, innerIndex } of each.instructions) {
      out.count(program)
      out.bytes(Uint8Array.from(accounts))
      out.bytes(data)
      out.count(height)
      out.count(outerIndex)
      out.optionalCount(innerIndex)
    }
    out.optionalCount(each.logs === null ? null : each.logs.length)
    for (const line of each.logs ?? []) out.text(line)
    for (const balances of [each.preTokenBalances, each.postTokenBalances]) {
      out.count(balances.length)
      for (const balance of balances) writeBalance(out, balance)
    }
    for (const balances of [each.preBalances, each.postBalances]) {
      out.count(balances.length)
      for (const balance of balances) out.count(balance)
    }
  }
  return out.take().buffer as ArrayBuffer
}

/** Reads packed transactions as a binary source would deliver them. */
export function unpackTransactions(bytes: ArrayBuffer): ReturnType<typeof binaryForm>[] {
  const source = new ByteReader(new Uint8Array(bytes))
  return times(source.count(), () => {
    const signature = source.fixed(64)
    const index = source.optionalCount()
    const version = source.byte()
    const flags = source.byte()
    const signerCount = source.count()
    const feeLamports = source.amount()
    const keyBytes = source.bytes()
    const locks = times(keyBytes.length / 32, () => source.byte() === 1)
    const instructions = times(source.count(), () => ({
      program: source.count(),
      accounts: source.bytes(),
      data: source.bytes(),
      height: source.count(),
      outerIndex: source.count(),
      innerIndex: source.optionalCount()
    }))
    const lines = source.optionalCount()
    const logs = lines === null ? null : times(lines, () => source.text())
    const tokenBalances = (): TokenBalance[] => times(source.count(), () => readBalance(source))
    const [preTokenBalances, postTokenBalances] = [tokenBalances(), tokenBalances()]
    const balances = (): number[] => times(source.count(), () => source.count())
    const [preBalances, postBalances] = [balances(), balances()]
    return binaryForm({
      ...{
        signature,
        index,
        version: version === 2 ? 'legacy' : (version as 0 | 1),
        failed: (flags & 1) !== 0
      },
      ...{ nestingKnown: (flags & 2) !== 0, signerCount, feeLamports, keyBytes, locks, instructions, logs },
      ...{ preTokenBalances, postTokenBalances, preBalances, postBalances }
    })
  })
}

function writeBalance(out: ByteWriter, { account, mint, owner, amount, decimals }: TokenBalance): void {
  out.count(account)
  out.fixed(mint, 32)
  out.optionalFixed(owner, 32)
  out.amount(amount)
  out.count(decimals)
}

const readBalance = (source: ByteReader): TokenBalance => ({
  account: source.count(),
  mint: source.address(),
  owner: source.byte() === 0 ? null : source.address(),
  amount: source.amount(),
  decimals: source.count()
})

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
