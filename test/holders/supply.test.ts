import t from 'tap'
import type { MintAccount } from '../../src/accounts/mint-account.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { supplyAt } from '../../src/holders/supply.ts'
import { key } from '../accounts/account-data.ts'

const stated = (...extensions: string[]) => ({
  account: { supply: 1_000n, extensions } as unknown as MintAccount,
  slot: 7
})
const list = { mint: key(1), held: 940n, slot: 10, changedSlot: 8 }

t.test('the supply of a token is the sum of its accounts at the slot of the list', async (t) => {
  const held = { supply: 940n, slot: 10 }
  t.strictSame(supplyAt({ ...list, tokenProgram: 'spl-token' }, stated()), held)
  t.strictSame(supplyAt({ ...list, tokenProgram: 'spl-token' }, null), held, 'without the mint')
  const modern = { ...list, tokenProgram: 'token-2022' } as const
  t.strictSame(supplyAt(modern, stated('metadata_pointer', 'scaled_ui_amount_config')), held)
})

t.test('a supply of which a part is in no account is that of the mint, at its own slot', async (t) => {
  const modern = { ...list, tokenProgram: 'token-2022' } as const
  const own = { supply: 1_000n, slot: 7 }
  for (const name of [
    'transfer_fee_config',
    'confidential_transfer_mint',
    'confidential_mint_burn',
    'unknown_99'
  ])
    t.strictSame(supplyAt(modern, stated('metadata_pointer', name)), own, name)
  t.strictSame(
    supplyAt({ ...modern, changedSlot: 7 }, stated('transfer_fee_config')),
    { supply: 1_000n, slot: 10 },
    'of the slot of the list, as no account has changed since'
  )
  t.equal(supplyAt(modern, null), null, 'its extensions are unknown')
})

t.test('wrapped SOL has no supply', async (t) => {
  t.equal(supplyAt({ ...list, mint: NATIVE_MINT, tokenProgram: 'spl-token' }, stated()), null)
})
