/**
 * Statements of sources about recorded transactions with which the decoder disagrees, each checked against the
 * transaction's own transfers. They are wrong, or not about amounts executed on our venues.
 */
export interface ReviewedExpectation {
  readonly signature: string
  /** The texts of the expectations. */
  readonly says: readonly string[]
  readonly reason: string
}

const KEEPER =
  'The maker of a Jupiter limit order got the amount that the order asked for, less a fee; the keeper who filled it through the venues kept the rest.'
const RENT_AND_TIP =
  'The wallet paid 2039280 lamports of rent for a token account and a tip of 150000 besides what it paid for its tokens.'
const PHOTON = "Photon's own fee: a transfer of lamports outside the curve's instruction."

export const REVIEWED: readonly ReviewedExpectation[] = [
  {
    signature: '3HdFhHNyf2uKrW6zb6FeYZpjcRyvprQuQH4oVkmc4uuCAhoEUAEkPHgUzRubf8npmHnziRs4HokFTgAkGPyzso6D',
    says: ['out 0.000081057 9gr8'],
    reason: KEEPER
  },
  {
    signature: '4NAC7cK6cRPFZJaJVehTJ2Pstj63oWjcDnnFoPARtsXb4qZiHhQeQmG9wbZg2yTkNPm37h13hP9vdZQdJReHiLBF',
    says: ['out 0.000372862 9gr8'],
    reason: KEEPER
  },
  {
    signature: '4v28RP4AadGTfSRmYyZyag2erNokm6pyE7Fdct14bkEKSDFusPkxkp2DLSovxuGPnRA6qJdmFFQrJHCouq6RaNrw',
    says: ['out 0.001491447 9gr8', 'network fee 2077200 lamports'],
    reason: `${KEEPER} The network's fee was 15000 lamports; the sum that the source states is no number of the transaction.`
  },
  {
    signature: '4xqxLBqu1ju8eRKb2YiazZxDCdJbLQ8Eh4nEE1zE2WN7GLoyfCes4Cs4fHAcvpf6yNocNv77DfN6oEC7CyYrKAza',
    says: ['in 399.36 EPjF', 'out 0.000177317 9gr8'],
    reason: `${KEEPER} Of the 399360000 offered to Phoenix it took 399346071 for whole lots.`
  },
  {
    signature: 'DHFysLFq77hbVeDhUF7iJXvyDhBX2M26Ji6MoYTcdFLpq83BewvmevvXtKWYBg34Ze3S719ywzo1qWS2fzaot5M',
    says: ['out 0.000177601 9gr8'],
    reason: KEEPER
  },
  {
    signature: 'k2eGRDNqy6mYEXTGp6XT3XvUjh8YEJrn2ozs2bzAXZXJYzpDc9EuVuo2fkQMaHRxyi2DTsKTBTnrYRU9cRh72Mo',
    says: ['out 999.0 HeLp'],
    reason: KEEPER
  },
  {
    signature: '3LF4ABXfbETvFbQ7nr7WU8pZvQ3H4gFBRZnLb1gJMSKzHZZNMXbJA4VUsrsAMa9cgBJgJDv7aeNnbRDC39C2oi1X',
    says: ['in 20000000000 EPCz', 'hop 20000000000 EPCz → 17398506594 mSoL'],
    reason: 'The first hop is through unstake.it, which is no venue of ours.'
  },
  {
    signature: '2BppD7ZqzcCpJ4WbvSbm6AAH7ZS1dZxAgjwNWWCPxuk7ahxSwdRHVBKRLjtb4uQYJR1BfNxcehW6qcYTGKki1TgP',
    says: ['in 200000000 So11', 'hop 200000000 So11 → 27086960 EPjF'],
    reason: 'The first hop is through OpenBook, which is no venue of ours.'
  },
  {
    signature: 'GCeRpjvfNXZB6BJFQChjpKycdKpRwQGS1BSwUvLjVpJj6NgdzzQACAWt89ZEfEXjeRSqzhDX8CHtzpMUnfJ7VMJ',
    says: [
      'in 4439613 EPjF',
      'hop 4439613 EPjF → 32095199 So11',
      'out 4453650 EPjF',
      'hop 6428459230 J5tz → 4453650 EPjF',
      'hop 6428459881 J5tz → 4453650 EPjF'
    ],
    reason: 'The first hop is through Cropper and the last through FluxBeam, which are no venues of ours.'
  },
  {
    signature: 'GCeRpjvfNXZB6BJFQChjpKycdKpRwQGS1BSwUvLjVpJj6NgdzzQACAWt89ZEfEXjeRSqzhDX8CHtzpMUnfJ7VMJ',
    says: ['hop 13377864233688 3C3p → 6428459882 J5tz'],
    reason:
      "The vault sent 6559652940 of a mint that withholds 2 %, rounded up: 6428459881 arrived, which is what the transaction's own Jupiter event and the other source of this transaction state. The snapshot is one off."
  },
  {
    signature: '5SnGKXqNQ6zYGfNHQwHWwRtbxnYHUHLbANXgpvCLuXD1LA5paStRBcuXwu2T5eM9xsVWFQTzeUNwPWx6UAQhUb2t',
    says: ['in 21466338267 DezX', 'hop 21466338267 DezX → 4939254 EPjF'],
    reason: 'The first hop is through Saros, which is no venue of ours.'
  },
  {
    signature: '5SnGKXqNQ6zYGfNHQwHWwRtbxnYHUHLbANXgpvCLuXD1LA5paStRBcuXwu2T5eM9xsVWFQTzeUNwPWx6UAQhUb2t',
    says: ['hop 4939254 EPjF → 35700000 So11'],
    reason:
      'The input is what Jupiter offered to Phoenix; the market took 4935798 for whole lots, and the rest stayed with the trader.'
  },
  {
    signature: '3p36wGRa191szhME5kRbg41cv9sXPPYvozkkKvPMErwoakXGZNDbjgCtV3e7uzU9dSDABtAgpm7heoepNhDmxJwN',
    says: ['in 250000000 EPjF'],
    reason:
      'OKX took 750000 as commission and offered 249250000 to Phoenix, which took 249243111 for whole lots.'
  },
  {
    signature: '2nLWcmrav8ZinvmsYz35kh3w5rMo1sokzmHdmkXjYhKYt762n67Q21xEuTG2rGGNJYDJ63nCHWmgXeYL3U8PHasK',
    says: ['in 1.998 EPjF'],
    reason: 'Six sevenths of the input went through a program that is no venue of ours; ours took 0.279720.'
  },
  {
    signature: '2nLWcmrav8ZinvmsYz35kh3w5rMo1sokzmHdmkXjYhKYt762n67Q21xEuTG2rGGNJYDJ63nCHWmgXeYL3U8PHasK',
    says: ['TRADE FEE 0.002 solana/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    reason: "Jupiter's platform fee: a transfer of the route's, outside its venues."
  },
  {
    signature: '2nLWcmrav8ZinvmsYz35kh3w5rMo1sokzmHdmkXjYhKYt762n67Q21xEuTG2rGGNJYDJ63nCHWmgXeYL3U8PHasK',
    says: ['RECEIVE NONE 0.000128863 A_WSOL', 'SPEND FEE 0.000096195 A_WSOL', 'SPEND FEE 0.000031031 A_WSOL'],
    reason:
      "What a sum of transfers leaves in the wallet's wrapped SOL; the two fees are PumpSwap's and stand in its trade, with other addresses."
  },
  {
    signature: '4VhDRLUK5QDZ6kgN9PCeEoztUraCibwYA3XaLZUKhfwWxqeN96Qg7Ep4w2j5C1VtggbuU6dqkGczGC537byu9hG3',
    says: ['in 0.05 6p6x'],
    reason:
      'The wallet paid 0.000437 in commissions; the other 0.049563 went through two programs that are no venues of ours, and ours took the SOL that they gave.'
  },
  {
    signature: '4VhDRLUK5QDZ6kgN9PCeEoztUraCibwYA3XaLZUKhfwWxqeN96Qg7Ep4w2j5C1VtggbuU6dqkGczGC537byu9hG3',
    says: ['SOL spent 0.00203928'],
    reason: 'Rent of the token account that the wallet opened.'
  },
  {
    signature: 'rNMFZpBmbr6R8g4hStbC5qAictmWvGFQVTwQyXoCY6QDrcq9UV2QfHJ6oARNuS1VaUh3HVe799CDn44dWQReAye',
    says: ['out 47461249 EPjF', 'EPjF has 6 decimals'],
    reason:
      'The last hop is through SolFi, which is no venue of ours, and Jupiter kept 286486 of it: no trade of ours gave USDC.'
  },
  {
    signature: '2tWRF2xVhaXKBTsTssiLhAchpJN8GbqeM3uKHdPBuTtbxzCXngGKwiQCfcekCk1XNmcXZTHwi8BSCjTGLoYh1DZv',
    says: ['in 0.00000391 cbbt'],
    reason: 'The first hop is through ZeroFi, which is no venue of ours.'
  },
  {
    signature: '5XYf7V6rNjRuStgG1ELmug5K5ErGWtfZBa4msAdqw1PeYWAYEg6qcJyFqoHJ5uNmNp3B6YdnQgdyQrpg2XZUDE3q',
    says: ['in 27.853252 EPjF'],
    reason: 'The first hop is through Byreal, which is no venue of ours.'
  },
  {
    signature: '23nkRH1XBqY5jDUews9AQVcG1hxQpb3GGGGkhMUfK9U92YxuihQ3s9PB4RgWwRJ4tB8xYEWX2A2wFpdmb1vhnv56',
    says: ['wallet change before the network fee -205740258 lamports'],
    reason: RENT_AND_TIP
  },
  {
    signature: '2rTZLYEUGh9PMaJd785LUkLKx8vQezZ1gvxdyAjJ4rXZnEMEJ8bAupD81TZWDsbkFLdo9XCGxAnqwAXqih1XTEk8',
    says: ['wallet change before the network fee -413079487 lamports'],
    reason: RENT_AND_TIP
  },
  {
    signature: '3EBWPyZHcv6ZCFVY5R49JnuBp9vK1pAaT4ZymBnVJN2ZivfSs8upED9NeP6YV7GFeSRmQNVVEAFTH2mQPhjnwyxr',
    says: ['wallet change before the network fee 470516583 lamports'],
    reason: 'The wallet gave 150000 lamports as a tip besides the 470666583 that it got for its tokens.'
  },
  {
    signature: '5KEMtQuv4Ki1xoFVAuA4GXYnkPG2bXSE3n1BNFd1U1yqHC2J91qtQrC7TkpjZvgmSrb7uAhrc6WGZpioE7W6mHRD',
    says: ['Photon fee 16678033'],
    reason: PHOTON
  },
  {
    signature: '628Q5CDNX5mW8pmHUZ56WJ1PmPZXVYuxHontQaxdfNfXAF9bbDJrsmzxkvnzCFgx3w8vqcpoN8prCmmRGMAjjLA2',
    says: ['Photon fee 4000000'],
    reason: PHOTON
  },
  {
    signature: '2rY9ky2Ypps3KMxcgEoerPPKc1ZYEhxbV7x2bRZf8n31RuBDddvguvdmWMLyDJB8ayvbcUGH2LPpxDhT2rhubTEX',
    says: ['out 0.045110273 So11'],
    reason:
      "The wallet's balance change: the network's fee of 20000 lamports is taken off the 45130273 that it got."
  },
  {
    signature: '5dk9JQExmdT635xMYA1RvdMTt7thpFoUXAi1MgtMzpEnADiq7TMMjpTG3wN8RHJ3ZqfuvtjsbDV5SHAWqRwiu51F',
    says: ['in 0.971735668 So11'],
    reason:
      "The wallet's balance change: the network's fee of 20000 lamports and 2039280 of rent for a token account stand on top of the 969676388 that it paid."
  },
  {
    signature: '4Q5xBVHJyponVkkLWmCEjoFKRntZBhY8J19YrrkZ4xUSAmTu2N1cZDHwMP6H1KXH7KbufAUQzXbdh2sXXJt1HQKX',
    says: ['out 1121546477 So11'],
    reason:
      "The wallet's balance change with the network's fee put back: the router took 11348645 lamports of the 1134864510 that the last hop gave, and 1969388 were a tip."
  },
  {
    signature: 'uv3TobUcLYkgod7if4StahXEftSmj8N6Un269Z6gvxjmo1q8sCzEihAyYczuRqpiMvhPY1hr2WNmnrePdzyQ8rs',
    says: [
      'raydium-amm-v4 trade inMint So11111111111111111111111111111111111111112',
      'raydium-amm-v4 trade outMint 4qu5jPY7dDkmtB6Q4iECFyWjaESTfwiAK86g99yPpump',
      'raydium-amm-v4 trade inDecimals 9',
      'raydium-amm-v4 trade outDecimals 6'
    ],
    reason:
      "The source has the sides reversed: the trader's account sent 4030305731740 of the token to the vault and got 109811565 lamports, as both transfers and both vaults' balances say."
  },
  {
    signature: '5SnGKXqNQ6zYGfNHQwHWwRtbxnYHUHLbANXgpvCLuXD1LA5paStRBcuXwu2T5eM9xsVWFQTzeUNwPWx6UAQhUb2t',
    says: ['trader 7eCimQLMWipNjqr3DjvrfXRNuaFZXuSfRofqvwMvvpz2'],
    reason:
      "The source names the fee payer. Its lamports fell by the fee alone, and it owns no token account: the accounts that paid and received are a program's."
  }
]
