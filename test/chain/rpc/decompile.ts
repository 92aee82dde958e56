import { VersionedTransaction } from '@solana/web3.js'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import type { JsonResult } from './reencode.ts'

/** Converts an entry of a base64 block to encoding `json`, by an independent reader of the bytes. */
export function decompile(entry: Record<string, unknown>): JsonResult {
  const [text] = entry.transaction as [string]
  const { signatures, message } = VersionedTransaction.deserialize(Buffer.from(text, 'base64'))
  return {
    ...(entry as unknown as JsonResult),
    transaction: {
      signatures: signatures.map(encodeBase58),
      message: {
        header: message.header,
        accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
        recentBlockhash: message.recentBlockhash,
        instructions: message.compiledInstructions.map((each) => ({
          programIdIndex: each.programIdIndex,
          accounts: [...each.accountKeyIndexes],
          data: encodeBase58(each.data)
        })),
        ...(message.version === 0 && {
          addressTableLookups: message.addressTableLookups.map((each) => ({
            accountKey: each.accountKey.toBase58(),
            writableIndexes: each.writableIndexes,
            readonlyIndexes: each.readonlyIndexes
          }))
        })
      }
    }
  }
}
