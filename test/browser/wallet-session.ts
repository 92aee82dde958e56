import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getSignatureFromTransaction,
  lamports,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signature,
  signTransactionMessageWithSigners
} from '@solana/kit'
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction
} from '@solana/web3.js'

// This file is bundled with the libraries, unmodified, and runs in a browser: in a page and in an extension.

/** The observations of a session on its transfer. */
export interface Seen {
  readonly lamports: number
  readonly slots: number
  readonly confirmed: string
}

/** Sends, subscribes and confirms with web3.js, which is given one URL and derives its socket. */
export async function web3(url: string): Promise<Seen> {
  const connection = new Connection(url, 'confirmed')
  const payer = Keypair.generate()
  const to = Keypair.generate().publicKey
  let slots = 0
  const changed = Promise.withResolvers<number>()
  const ids = [
    connection.onAccountChange(to, (account) => changed.resolve(account.lamports)),
    connection.onSlotChange(() => slots++)
  ]
  const airdrop = await connection.requestAirdrop(payer.publicKey, LAMPORTS_PER_SOL)
  const latest = await connection.getLatestBlockhash()
  await connection.confirmTransaction({ signature: airdrop, ...latest })
  const transfer = new Transaction().add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 5_000_000 })
  )
  const confirmed = await sendAndConfirmTransaction(connection, transfer, [payer])
  const seen = { lamports: await changed.promise, slots, confirmed }
  await connection.removeAccountChangeListener(ids[0]!)
  await connection.removeSlotChangeListener(ids[1]!)
  return seen
}

/** Runs these steps with the kit, whose subscriptions get this URL with the scheme of a socket. */
export async function kit(url: string): Promise<Seen> {
  const rpc = createSolanaRpc(url as 'http://devnet')
  const rpcSubscriptions = createSolanaRpcSubscriptions(url.replace('http', 'ws') as 'ws://devnet')
  const end = new AbortController()
  const options = { abortSignal: end.signal }
  const payer = await generateKeyPairSigner()
  const to = (await generateKeyPairSigner()).address
  const [accounts, slots] = await Promise.all([
    rpcSubscriptions
      .accountNotifications(to, { commitment: 'confirmed', encoding: 'base64' })
      .subscribe(options),
    rpcSubscriptions.slotNotifications().subscribe(options)
  ])
  const changed = first(accounts)
  const slot = first(slots)
  await untilFunded(url, payer.address)
  const { value: latest } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const data = new Uint8Array(12)
  new DataView(data.buffer).setUint32(0, 2, true)
  new DataView(data.buffer).setBigUint64(4, 7_000_000n, true)
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (made) => setTransactionMessageFeePayerSigner(payer, made),
    (made) => setTransactionMessageLifetimeUsingBlockhash(latest, made),
    (made) =>
      appendTransactionMessageInstruction(
        {
          programAddress: address('11111111111111111111111111111111'),
          accounts: [
            { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
            { address: to, role: AccountRole.WRITABLE }
          ],
          data
        },
        made
      )
  )
  const signed = await signTransactionMessageWithSigners(message)
  const send = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })
  await send(signed as never, { commitment: 'confirmed' })
  const { value } = await changed
  const seen = {
    lamports: Number(value.lamports),
    slots: Number((await slot).slot > 0n),
    confirmed: getSignatureFromTransaction(signed)
  }
  end.abort()
  return seen

  async function untilFunded(node: string, account: string): Promise<void> {
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'requestAirdrop',
      params: [account, Number(lamports(1_000_000_000n))]
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(node, { method: 'POST', headers, body: JSON.stringify(body) })
    const airdrop = signature(((await answer.json()) as { result: string }).result)
    for (;;) {
      const { value } = await rpc.getSignatureStatuses([airdrop]).send()
      if (value[0]?.confirmationStatus === 'confirmed' || value[0]?.confirmationStatus === 'finalized') return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** Returns the status and the text of an answer as a page reads them; `hidden` if the browser hides it. */
export async function post(url: string): Promise<string> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'
  const headers = { 'content-type': 'application/json' }
  try {
    const answer = await fetch(url, { method: 'POST', headers, body })
    return `${answer.status} ${await answer.text()}`
  } catch {
    return 'hidden'
  }
}

/** Opens a socket, and returns whether it opened. */
export function opens(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url)
    socket.addEventListener('open', () => {
      resolve(true)
      socket.close()
    })
    socket.addEventListener('error', () => resolve(false))
  })
}

async function first<T>(events: AsyncIterable<T>): Promise<T> {
  for await (const event of events) return event
  throw new Error('it ended without an event')
}
