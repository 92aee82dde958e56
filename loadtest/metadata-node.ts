/**
 * A node that answers getMultipleAccounts with made mints and their metadata, from memory. The argument is the number of
 * milliseconds that each answer waits.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { metaplexAddress, METAPLEX_PROGRAM } from '../src/accounts/metaplex.ts'
import { TOKEN_PROGRAM_KEYS } from '../src/accounts/token-program.ts'
import { pubkeyToBase58, type Pubkey } from '../src/chain/pubkey.ts'
import { extended, metaplexData, mintData, tokenMetadataValue } from '../test/accounts/account-data.ts'
import { isToken2022, mintOf, MINTS } from './metadata-mints.ts'

const waitMs = Number(process.argv[2])
const texts = new Map<string, string>()

function put(address: Pubkey, owner: Pubkey, data: Uint8Array): void {
  const account = {
    lamports: 1_461_600,
    data: [Buffer.from(data).toString('base64'), 'base64'],
    owner: pubkeyToBase58(owner),
    executable: false,
    rentEpoch: 18_446_744_073_709_552_000,
    space: data.length
  }
  texts.set(pubkeyToBase58(address), JSON.stringify(account))
}

for (let n = 0; n < MINTS; n++) {
  const mint = mintOf(n)
  const names = {
    mint,
    name: `Token number ${n}`,
    symbol: `T${n}`,
    uri: `https://ipfs.io/ipfs/bafkreiaqv3olqd6xl2l4qmd6fr2nh2ry7jkgiz2m3yq7o3g4l5m6n7o8p9q${n}`
  }
  const base = mintData({ supply: 10n ** 15n + BigInt(n), decimals: 6 })
  if (isToken2022(n)) {
    const pointer = new Uint8Array(64)
    pointer.set(mint, 32)
    const data = extended(base, 'mint', [
      [18, pointer],
      [19, tokenMetadataValue(names)]
    ])
    put(mint, TOKEN_PROGRAM_KEYS['token-2022'], data)
  } else {
    put(mint, TOKEN_PROGRAM_KEYS['spl-token'], base)
    put(metaplexAddress(mint), METAPLEX_PROGRAM, metaplexData(names))
  }
}

let calls = 0
process.on('message', () => process.send!(calls))

const server = createServer((incoming, response) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    calls++
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      readonly id: number
      readonly params: readonly [readonly string[]]
    }
    const value = params[0].map((address) => texts.get(address) ?? 'null').join(',')
    const body = `{"jsonrpc":"2.0","result":{"context":{"slot":1000},"value":[${value}]},"id":${id}}`
    const send = (): void => {
      const length = Buffer.byteLength(body)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length }).end(body)
    }
    if (waitMs === 0) send()
    else setTimeout(send, waitMs)
  })
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
)
