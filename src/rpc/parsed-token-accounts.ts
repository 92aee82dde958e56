import { NATIVE_MINT } from '../chain/native-mint.ts'
import { pubkeyFromBase58, pubkeyMapKey, samePubkey, type Pubkey } from '../chain/pubkey.ts'
import { parseAccount } from '../localnet/node/parsed-account.ts'
import { readMint, readTokenAccount } from '../localnet/node/token-state.ts'
import { LOOKUP_TABLE, SYSTEM, SYSVAR_OWNER, TOKEN, TOKEN_2022, VOTE } from '../localnet/programs.ts'
import type { AccountsPage, ProgramAccount } from '../../storage/port.ts'

/** Programs whose accounts a node parses, and this service does not (agave, account-decoder, parse_account_data.rs). */
const PARSED_BY_NODES: readonly Pubkey[] = [
  LOOKUP_TABLE,
  SYSTEM,
  SYSVAR_OWNER,
  VOTE,
  ...[
    'BPFLoaderUpgradeab1e11111111111111111111111',
    'Config1111111111111111111111111111111111111',
    'Stake11111111111111111111111111111111111111'
  ].map(pubkeyFromBase58)
]

/** Returns which side makes the `jsonParsed` form of a program's accounts; `nobody` if a node writes base64. */
export function parserOf(program: Pubkey): 'this service' | 'a node' | 'nobody' {
  if (samePubkey(program, TOKEN) || samePubkey(program, TOKEN_2022)) return 'this service'
  return PARSED_BY_NODES.some((each) => samePubkey(each, program)) ? 'a node' : 'nobody'
}

/** Thrown for an account whose form this service cannot write exactly: one with extensions that have values. */
export class OnlyNodeParses extends Error {}

const NATIVE_DECIMALS = 9
/** An extension without a value, which every associated token account has. */
const IMMUTABLE_OWNER = 7

/** Writes accounts of a token program in the form `jsonParsed`, at one slot. */
export class ParsedTokenAccounts {
  readonly #program: Pubkey
  readonly #readMints: (addresses: readonly Pubkey[]) => Promise<readonly (ProgramAccount | null)[]>
  /** Decimals by mint; null for an account that is not a mint. */
  readonly #decimals = new Map<string, number | null>([[pubkeyMapKey(NATIVE_MINT), NATIVE_DECIMALS]])

  /** @param readMints Reads accounts of the program at the slot, in the order of the addresses. */
  constructor(
    program: Pubkey,
    readMints: (addresses: readonly Pubkey[]) => Promise<readonly (ProgramAccount | null)[]>
  ) {
    this.#program = program
    this.#readMints = readMints
  }

  /**
   * Returns the JSON texts of the data, in the order of the accounts. Null for an account that cannot be parsed, which a
   * node leaves out of its answer. Throws OnlyNodeParses.
   */
  async texts(accounts: AccountsPage['accounts']): Promise<(string | null)[]> {
    await this.#learnDecimals(accounts)
    return accounts.map(({ account: { data } }) => {
      const mint = readMint(data)
      if (mint !== null && mint.extensions.length > 0) throw new OnlyNodeParses()
      const parsed = parseAccount({ owner: this.#program, data }, (address) =>
        this.#decimals.get(pubkeyMapKey(address))!
      )
      return parsed === null ? null : JSON.stringify(parsed)
    })
  }

  async #learnDecimals(accounts: AccountsPage['accounts']): Promise<void> {
    const unknown = new Map<string, Pubkey>()
    for (const { account } of accounts) {
      const state = readTokenAccount(account.data)
      if (state === null) continue
      if (state.extensions.some((each) => each !== IMMUTABLE_OWNER)) throw new OnlyNodeParses()
      const key = pubkeyMapKey(state.mint)
      if (!this.#decimals.has(key)) unknown.set(key, state.mint)
    }
    if (unknown.size === 0) return
    const mints = await this.#readMints([...unknown.values()])
    for (const [i, key] of [...unknown.keys()].entries()) {
      const account = mints[i]
      const mint = account == null ? null : readMint(account.data)
      // Extensions of a mint can change how its amounts are shown.
      if (mint !== null && mint.extensions.length > 0) throw new OnlyNodeParses()
      this.#decimals.set(key, mint?.decimals ?? null)
    }
  }
}
