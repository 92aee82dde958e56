import type { AccountNode, AddressedAccount } from '../accounts/ports.ts'
import { TOKEN_PROGRAM_KEYS, type TokenProgramName } from '../accounts/token-program.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { HeldBalance } from './row-bytes.ts'

/** A token account in a node's answer, with the slot of that answer. */
export interface NodeBalance extends HeldBalance {
  readonly account: Pubkey
  readonly slot: number
}

export interface NodeBalances {
  /** Accounts with tokens. */
  readonly balances: readonly NodeBalance[]
  /** Slots of the oldest and the newest answer. */
  readonly oldestSlot: number
  readonly newestSlot: number
}

/** Bytes of a token account without extensions. In an account with extensions, the next byte is 2. */
const ACCOUNT_BYTES = 165
/** The owner and the amount, which follow the mint. */
const SLICE = { offset: 32, length: 40 } as const

/**
 * Reads all accounts of a mint with tokens. Token-2022 needs two requests, at two slots, because each uses the
 * filters that a node's index of accounts by mint supports. Rejects like the node.
 */
export async function nodeBalances(
  node: Pick<AccountNode, 'programAccounts'>,
  mint: Pubkey,
  tokenProgram: TokenProgramName,
  signal: AbortSignal
): Promise<NodeBalances> {
  const program = TOKEN_PROGRAM_KEYS[tokenProgram]
  const ofMint = { offset: 0, bytes: mint }
  const plain = { dataSize: ACCOUNT_BYTES, memcmp: [ofMint], dataSlice: SLICE }
  const extended = { memcmp: [ofMint, { offset: ACCOUNT_BYTES, bytes: Uint8Array.of(2) }], dataSlice: SLICE }
  const queries = tokenProgram === 'spl-token' ? [plain] : [plain, extended]
  const balances: NodeBalance[] = []
  const slots: number[] = []
  for (const query of queries) {
    const { slot, accounts } = await node.programAccounts(program, query, signal)
    slots.push(slot)
    for (const each of accounts) {
      const balance = balanceOf(each, slot)
      if (balance.amount > 0n) balances.push(balance)
    }
  }
  return { balances, oldestSlot: Math.min(...slots), newestSlot: Math.max(...slots) }
}

function balanceOf({ address, account: { data } }: AddressedAccount, slot: number): NodeBalance {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return { account: address, owner: data.slice(0, 32), amount: view.getBigUint64(32, true), slot }
}
