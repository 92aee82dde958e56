import { pubkeyFromBase58, samePubkey } from '../../chain/pubkey.ts'
import type { WireTransaction } from '../../chain/wire.ts'

const MEMO_PROGRAMS = [
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'
].map(pubkeyFromBase58)

/** Returns the memos of a transaction as nodes store them, in one line, each with its length; null if it has no memos. */
export function memoOf({ instructions, keys }: WireTransaction): string | null {
  const memos: string[] = []
  for (const { program, data } of instructions) {
    const key = keys.subarray(program * 32, program * 32 + 32)
    if (key.length !== 32 || !MEMO_PROGRAMS.some((memo) => samePubkey(memo, key))) continue
    memos.push(`[${data.length}] ${textOf(data)}`)
  }
  return memos.length === 0 ? null : memos.join('; ')
}

function textOf(data: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data)
  } catch {
    return '(unparseable)'
  }
}
