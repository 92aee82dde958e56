import type { HolderDeps } from '../actors/holders/holder-deps.ts'
import { ListLoading } from '../actors/holders/list-loading.ts'
import { readAddressed } from '../src/accounts/node-answers.ts'
import { TOKEN_PROGRAM_KEYS } from '../src/accounts/token-program.ts'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import type { HolderMint } from '../src/holders/holder-mint.ts'
import { systemPorts } from '../src/ports.ts'
import type { MarketApp } from '../test/http/market-app.ts'
import { tokenAccountData } from '../test/accounts/account-data.ts'
import { numberedAddress } from './holder-list.ts'

const SLOT = 10
/** The owner and the amount of a token account, which a node is asked for. */
const SLICE = { from: 32, to: 72 } as const

/** Returns the first reading of a list with a number of accounts: the node's answer is parsed, sorted and stored. */
export function holderReading({ storage }: Pick<MarketApp, 'storage'>, count: number): () => Promise<void> {
  const mint = numberedAddress(8, 0)
  const owner = TOKEN_PROGRAM_KEYS['spl-token']
  const accounts = Array.from({ length: count }, (_, n) => {
    const data = tokenAccountData({ mint, owner: numberedAddress(3, n), amount: BigInt(n + 1) })
    return {
      pubkey: pubkeyToBase58(numberedAddress(9, n)),
      account: {
        ...{ lamports: 2_039_280, owner: pubkeyToBase58(owner), executable: false, rentEpoch: 2 ** 64 },
        data: [Buffer.from(data.subarray(SLICE.from, SLICE.to)).toString('base64'), 'base64']
      }
    }
  })
  const answer = JSON.stringify(accounts)
  const node: HolderDeps['node'] = {
    programAccounts: async () => ({ slot: SLOT, accounts: readAddressed(JSON.parse(answer), true) })
  }
  const deps = { ...systemPorts, storage, node } as unknown as HolderDeps
  const about = { tokenProgram: 'spl-token' } as HolderMint
  return async () => {
    const loading = new ListLoading(deps, mint, about, 1, 0)
    await loading.run({ reach: async () => SLOT, found: async () => 1, stored: async () => undefined })
  }
}
