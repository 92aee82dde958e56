import { Connection, Keypair, LAMPORTS_PER_SOL, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import { createMillrace } from 'millrace/client'

/**
 * Sends two transfers that land together or not at all, with a tip in the second one, and follows the bundle to its end. On a
 * localnet it makes a payer with an airdrop; elsewhere MILLRACE_PAYER has the payer's secret key as a JSON array.
 */

const [lamportsText = '1000000', tipText = 'p50'] = process.argv.slice(2)
const { MILLRACE_URL = 'http://127.0.0.1:8900', MILLRACE_KEY = '', MILLRACE_PAYER } = process.env

const millrace = createMillrace({ url: MILLRACE_URL, key: MILLRACE_KEY })
const connection = new Connection(millrace.rpc.url, 'confirmed')

const payer = MILLRACE_PAYER === undefined ? await fundedPayer() : payerOf(MILLRACE_PAYER)
const { tip_accounts: tipAccounts, floor_lamports: floor } = await millrace.tx.tips()
const tip = Math.max(1_000, Math.ceil(tipText in floor ? floor[tipText as 'p50'] : Number(tipText)))
const tipAccount = tipAccounts[Math.floor(Math.random() * tipAccounts.length)]!
const { blockhash } = await connection.getLatestBlockhash()

const to = Keypair.generate().publicKey
const bundle = await millrace.tx.bundles.send([
  transaction([transfer(to, Number(lamportsText))]),
  // The engine reads the tip from an instruction of its own in the last transaction.
  transaction([transfer(to, Number(lamportsText) + 1), transfer(new PublicKey(tipAccount), tip)])
])
console.log(`bundle ${bundle.bundle_id} with a tip of ${tip} lamports: ${bundle.signatures.join(', ')}`)

const status = await millrace.tx.bundles.wait(bundle.bundle_id, { signal: AbortSignal.timeout(120_000) })
console.log(
  status.status === 'landed'
    ? `landed in slot ${status.landed_slot} (${status.confirmation_status})`
    : `${status.status}: ${status.reason ?? JSON.stringify(status.err)}`
)
process.exit(status.status === 'landed' ? 0 : 1)

function transaction(instructions: readonly ReturnType<typeof transfer>[]): Buffer {
  const made = new Transaction({ recentBlockhash: blockhash, feePayer: payer.publicKey })
  made.add(...instructions)
  made.sign(payer)
  return made.serialize()
}

function transfer(toPubkey: PublicKey, lamports: number) {
  return SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports })
}

function payerOf(secret: string): Keypair {
  return Keypair.fromSecretKey(Uint8Array.from(JSON.parse(secret) as number[]))
}

/** Returns a new payer with a SOL of the localnet. */
async function fundedPayer(): Promise<Keypair> {
  const made = Keypair.generate()
  const signature = await millrace.rpc.call<string>('requestAirdrop', [
    made.publicKey.toBase58(),
    LAMPORTS_PER_SOL
  ])
  await millrace.tx.wait(signature, { signal: AbortSignal.timeout(60_000) })
  return made
}
