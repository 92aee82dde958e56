import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import {
  ComputeBudgetProgram,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction
} from '@solana/web3.js'
import { TIP_MIN_LAMPORTS } from '../../chain/tip.ts'
import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import {
  ask,
  serviceOf,
  withRefusals,
  type ServiceAccess,
  type ServiceOptions
} from '../../kernel/cli/service-command.ts'
import { Unreachable } from '../../kernel/cli/service-client.ts'
import { follow, send } from './transactions.ts'

const PERCENTILES: readonly string[] = ['p25', 'p50', 'p75', 'p90', 'max']
/** Lamports of a transfer by default: more than the rent of a new account. */
const LAMPORTS = '1000000'
/** Lamports that a localnet gives to a new payer. Arbitrary; a transfer and its fees take less. */
const FUNDS = 1_000_000_000
/** Compute units of the transfer, its tip and its two budget instructions; each takes 150. */
const COMPUTE_UNITS = 1_000
/** Polls for the arrival of an airdrop, and their interval in milliseconds: half a minute in total, about a slot each. */
const FUND_POLLS_MAX = 75
const POLL_INTERVAL_MS = 400
const NO_NODE = 'the node of --rpc-url does not answer'

interface TransferOptions extends ServiceOptions {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly lamports?: string | undefined
  readonly priority?: string | undefined
  readonly via?: string | undefined
}

/** Builds, signs and sends a transfer, and follows it until its state is final. */
export async function transfer(invocation: Invocation<TransferOptions>): Promise<number> {
  const { options, config, stderr } = invocation
  const service = serviceOf('tx:send', invocation)
  const [nodeUrl] = config.rpcUrl
  if (nodeUrl === undefined)
    throw new BadUsage('set a node for the blockhash: --rpc-url, or MILLRACE_RPC_URL')
  const { priority, via, to, lamports = LAMPORTS } = options
  if (priority !== undefined && !PERCENTILES.includes(priority))
    throw new BadUsage(`--priority must be one of ${PERCENTILES.join(', ')}`)
  if (!/^[1-9]\d{0,18}$/.test(lamports)) throw new BadUsage('--lamports is not a whole number above 0')
  const receiver = to === undefined ? Keypair.generate().publicKey : addressOf('--to', to)
  const payer = options.from === undefined ? Keypair.generate() : await keypairOf(options.from)
  const node = new Connection(nodeUrl, 'confirmed')
  return withRefusals(invocation, async () => {
    if (options.from === undefined) await fund(node, payer.publicKey)
    const accounts = [payer.publicKey, receiver]
    const instructions = [
      ...(priority === undefined ? [] : await budgetOf(service, priority, accounts)),
      SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: receiver,
        lamports: BigInt(lamports)
      }),
      ...(via === undefined ? [] : [await tipTo(service, payer.publicKey)])
    ]
    const { blockhash } = await asked(node.getLatestBlockhash(), NO_NODE)
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions
    })
    const transaction = new VersionedTransaction(message.compileToV0Message())
    transaction.sign([payer])
    const tx = Buffer.from(transaction.serialize()).toString('base64')
    stderr(`millrace: ${lamports} lamports from ${payer.publicKey.toBase58()} to ${receiver.toBase58()}`)
    const signature = await send(service, { tx, ...(via !== undefined && { via }) })
    invocation.stdout(options.json === true ? JSON.stringify({ signature }) : signature)
    return follow(service, invocation, signature)
  })
}

/** Returns instructions that pay the priority fee of a percentile. */
async function budgetOf(
  service: ServiceAccess,
  percentile: string,
  accounts: readonly PublicKey[]
): Promise<TransactionInstruction[]> {
  const list = accounts.map((account) => account.toBase58()).join(',')
  const fees = await ask(service, { method: 'GET', path: `/v1/priority-fees?accounts=${list}` })
  const { [percentile]: microLamports = 0 } = fees.micro_lamports_per_cu as Readonly<Record<string, number>>
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNITS }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports })
  ]
}

/** Returns a transfer of the median tip to a tip account. */
async function tipTo(service: ServiceAccess, from: PublicKey): Promise<TransactionInstruction> {
  const body = await ask(service, { method: 'GET', path: '/v1/tx/tips' })
  const [account] = body.tip_accounts as readonly string[]
  const { p50 = 0 } = (body.floor_lamports ?? {}) as Readonly<Record<string, number | null>>
  const lamports = Math.max(Number(TIP_MIN_LAMPORTS), p50 ?? 0)
  return SystemProgram.transfer({ fromPubkey: from, toPubkey: new PublicKey(account!), lamports })
}

/** Requests SOL from the node, and waits for its arrival. A node that is not a localnet refuses. */
async function fund(node: Connection, payer: PublicKey): Promise<void> {
  const signature = await asked(
    node.requestAirdrop(payer, FUNDS),
    'the node does not fund a new key pair; set the payer: --from'
  )
  for (let poll = 0; poll < FUND_POLLS_MAX; poll++) {
    const { value } = await asked(node.getSignatureStatus(signature), NO_NODE)
    if (value !== null && value.confirmationStatus !== 'processed') return
    await wait(POLL_INTERVAL_MS)
  }
  throw new Unreachable('the airdrop of the node did not arrive')
}

/** Resolves like a request to the node. Rejects with Unreachable, and the reason. */
async function asked<T>(question: Promise<T>, fault: string): Promise<T> {
  try {
    return await question
  } catch (cause) {
    throw new Unreachable(`${fault} (${cause instanceof Error ? cause.message : String(cause)})`, { cause })
  }
}

async function keypairOf(path: string): Promise<Keypair> {
  try {
    const bytes: unknown = JSON.parse(await readFile(path, 'utf8'))
    return Keypair.fromSecretKey(Uint8Array.from(bytes as number[]))
  } catch (cause) {
    throw new BadUsage(`${path} is not a key pair of solana-keygen: ${(cause as Error).message}`)
  }
}

function addressOf(flag: string, text: string): PublicKey {
  try {
    return new PublicKey(text)
  } catch {
    throw new BadUsage(`${flag} is not an address`)
  }
}
