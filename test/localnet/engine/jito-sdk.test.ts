import { PublicKey } from '@solana/web3.js'
import { JitoJsonRpcClient } from 'jito-js-rpc'
import t from 'tap'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { bundleIdOf } from '../../../src/signing/bundle-id.ts'
import { TIP_ACCOUNT_KEYS, TIP_ACCOUNTS } from '../../../src/localnet/engine/tip-accounts.ts'
import { startTestEngine } from '../../servers/test-engine.ts'
import { funded, lamportsOf, openBank, produce, signed, SOL, transfer, wallet } from '../bank/sending.ts'
import { startNode, urlOf } from '../node/node-client.ts'

/** The operator's own SDK (jito-js-rpc), unmodified, as a client of our engines. */

const BASE64 = { encoding: 'base64' } as const
const text = (wire: Uint8Array): string => Buffer.from(wire).toString('base64')
const signatureOf = (wire: Uint8Array): string => encodeBase58(wire.subarray(1, 65))

t.test('the SDK sends a bundle to the localnet, which lands in order, and reads its status', async (t) => {
  const bank = await openBank({ genesisAccounts: TIP_ACCOUNT_KEYS })
  const owner = await funded(bank, 1)
  const node = await startNode(t, bank)
  const sdk = new JitoJsonRpcClient(`${urlOf(node)}/api/v1`, '')
  const tipAccount = await sdk.getRandomTipAccount()
  t.ok(TIP_ACCOUNTS.includes(tipAccount))
  const wires = [
    signed(bank, [transfer(owner, wallet(2).publicKey, 2n * SOL)], [owner]),
    signed(bank, [transfer(wallet(2), new PublicKey(tipAccount), 1_000n)], [wallet(2)])
  ]
  const sent = await sdk.sendBundle([wires.map(text), BASE64])
  const id = bundleIdOf(wires.map(signatureOf))
  t.equal(sent.result, id)
  t.match((await sdk.getInFlightBundleStatuses([[id]])).result?.value, [{ status: 'Pending' }])
  await produce(bank, 2)
  const slot = bank.slot('confirmed')
  t.match((await sdk.getInFlightBundleStatuses([[id]])).result?.value, [
    { bundle_id: id, status: 'Landed', landed_slot: slot }
  ])
  t.match(await sdk.confirmInflightBundle(id), {
    bundle_id: id,
    transactions: wires.map(signatureOf),
    slot,
    confirmation_status: 'confirmed'
  })
  t.equal(lamportsOf(bank, wallet(2).publicKey), 2n * SOL - 6_000n)
})

t.test('a transaction that fails lands by the SDK without revert protection, and not with it', async (t) => {
  const bank = await openBank({ genesisAccounts: TIP_ACCOUNT_KEYS })
  const owner = await funded(bank, 1)
  const node = await startNode(t, bank)
  const sdk = new JitoJsonRpcClient(`${urlOf(node)}/api/v1`, '')
  const tip = transfer(owner, new PublicKey(TIP_ACCOUNTS[0]!), 5_000n)
  const failing = (lamports: bigint) =>
    signed(bank, [tip, transfer(owner, wallet(2).publicKey, lamports)], [owner])
  const [plain, protectedOne] = [failing(50n * SOL), failing(60n * SOL)]
  t.equal((await sdk.sendTxn([text(plain), BASE64], false)).result, signatureOf(plain))
  t.equal((await sdk.sendTxn([text(protectedOne), BASE64], true)).result, signatureOf(protectedOne))
  await bank.produceSlot()
  t.not(bank.transaction(plain.subarray(1, 65))?.transaction.meta.err, null)
  t.equal(bank.transaction(protectedOne.subarray(1, 65)), null)
  t.equal(lamportsOf(bank, owner.publicKey), 10n * SOL - 5_000n, 'the fee of one, and no tip')
  t.match((await sdk.getInFlightBundleStatuses([[bundleIdOf([signatureOf(protectedOne)])]])).result?.value, [
    { status: 'Failed' }
  ])
})

t.test('the SDK reads refusals of the localnet', async (t) => {
  const bank = await openBank({ genesisAccounts: TIP_ACCOUNT_KEYS })
  const owner = await funded(bank, 1)
  const sdk = new JitoJsonRpcClient(`${urlOf(await startNode(t, bank))}/api/v1`, '')
  const untipped = signed(bank, [transfer(owner, wallet(2).publicKey, SOL)], [owner])
  t.match((await sdk.sendBundle([[text(untipped)], BASE64])).error, { code: -32602, message: /tip/ })
  t.match((await sdk.sendBundle([['0OIl']])).error, { code: -32602 })
  const ids = Array.from({ length: 6 }, (_, nth) => `b${nth}`)
  t.match((await sdk.getInFlightBundleStatuses([ids])).error, { code: -32602 })
})

t.test('the SDK speaks to the engine with faults of the tests as to the real one', async (t) => {
  const bank = await openBank()
  const engine = await startTestEngine(t)
  const sdk = new JitoJsonRpcClient(`${engine.url}/api/v1`, 'an-uuid')
  const wire = signed(bank, [transfer(wallet(1), wallet(2).publicKey, SOL)], [wallet(1)])
  const { result: id } = await sdk.sendBundle([[text(wire)], BASE64])
  t.equal(id, bundleIdOf([signatureOf(wire)]))
  t.match((await sdk.getInFlightBundleStatuses([[id!, 'ff']])).result?.value, [
    { status: 'Pending' },
    { status: 'Invalid' }
  ])
  t.same((await sdk.getTipAccounts()).result, TIP_ACCOUNTS)
  engine.fault('sendBundle', { kind: 'status', status: 429 })
  await t.rejects(sdk.sendBundle([[text(wire)], BASE64]), { message: /429/ })
})
