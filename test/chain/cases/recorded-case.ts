import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A getTransaction result, as far as tests change it. */
export interface RecordedCase {
  readonly meta: {
    readonly preTokenBalances: CaseBalance[]
    readonly postTokenBalances: CaseBalance[]
  }
}

interface CaseBalance {
  readonly accountIndex: number
  owner: string
  readonly uiTokenAmount: { amount: string }
}

/** Returns a recorded mainnet transaction that lies beside this file; each call returns a new object. */
export function recordedCase(name: 'mayhem-agent-buy'): RecordedCase {
  return JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8')) as RecordedCase
}
