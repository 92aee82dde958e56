/** Vaults whose recorded change differs from the sum of the decoded events, case by case, with the amount and the reason. */
export interface ReviewedRemainder {
  readonly signature: string
  readonly account: string
  /** Recorded change minus decoded change, in base units or lamports. */
  readonly remainder: bigint
  readonly reason: string
}

const CLAIMED_FEES =
  "Another instruction of the transaction claims a position's fees from the same vault: no event."
const FEES_WITH_LIQUIDITY =
  "The position's fees leave the vault with its liquidity: the event is about the liquidity alone."
const KEPT_FEES =
  "LaunchLab keeps fees that stand outside the fill in the vault until they are claimed: in older versions all, in newer ones the protocol's."
const RENT = "The curve's account is opened in the same transaction, and holds its rent."
export const REVIEWED_REMAINDERS: readonly ReviewedRemainder[] = [
  {
    signature: '24tyxQ3V6TpmWivhfbwtcXUxLz3QB4pXseVdbuMNstYw21bwzyhNuWstcm5MmcixYmkDpqaxGKQKhcddfXKytCFK',
    account: 'HMHMGox6tMmzwNJsbCsuCfLvGVuFJgk6hfD1roftiizm',
    remainder: -17757127n,
    reason: CLAIMED_FEES
  },
  {
    signature: '2WBFKUhSgVAMde4cMGzdxpVgK89fAZpxd3bSYVt1h5Syb4eqk1u97711MYq2gGBbbyHdg77WCEqefhDKENJ3vZb8',
    account: 'EYj9xKw6ZszwpyNibHY7JD5o3QgTVrSdcBp1fMJhrR9o',
    remainder: -2544n,
    reason: CLAIMED_FEES
  },
  {
    signature: '2WBFKUhSgVAMde4cMGzdxpVgK89fAZpxd3bSYVt1h5Syb4eqk1u97711MYq2gGBbbyHdg77WCEqefhDKENJ3vZb8',
    account: 'CoaxzEh8p5YyGLcj36Eo3cUThVJxeKCs7qvLAGDYwBcz',
    remainder: -6419n,
    reason: CLAIMED_FEES
  },
  {
    signature: '5TjXcSVPadYrApvVxZRhZLd8QQ2eX5Qb22c17rnKEobMYMaL44xW23Nko7dZWpf7hF8nCz7xoxjnD1yzzzmqTiJP',
    account: 'EYj9xKw6ZszwpyNibHY7JD5o3QgTVrSdcBp1fMJhrR9o',
    remainder: -1223683n,
    reason: CLAIMED_FEES
  },
  {
    signature: '5TjXcSVPadYrApvVxZRhZLd8QQ2eX5Qb22c17rnKEobMYMaL44xW23Nko7dZWpf7hF8nCz7xoxjnD1yzzzmqTiJP',
    account: 'CoaxzEh8p5YyGLcj36Eo3cUThVJxeKCs7qvLAGDYwBcz',
    remainder: -54268n,
    reason: CLAIMED_FEES
  },
  {
    signature: '5VezA89zRTAf53qzFwL6W4c27auMyPRjj3xVihy69NSDtJw1UVVwwGvy6jKfezh18dXgVbYMAjFKNyQNz88gY6VR',
    account: 'Fji4wxD9WcwcxDuqftsArQRgr7jYZqALwfsCUudm2sGi',
    remainder: -23159900n,
    reason: CLAIMED_FEES
  },
  {
    signature: '5omfKFhsgoA1qwkqzpqbSgd1iGgCfijpWRozNWuPK8SRDGUnj6EibUMXookthWjgKkxFoERAvu6zR2aQquewkRVR',
    account: 'H7j5NPopj3tQvDg4N8CxwtYciTn3e8AEV6wSVrxpyDUc',
    remainder: -1488926n,
    reason: CLAIMED_FEES
  },
  {
    signature: '5omfKFhsgoA1qwkqzpqbSgd1iGgCfijpWRozNWuPK8SRDGUnj6EibUMXookthWjgKkxFoERAvu6zR2aQquewkRVR',
    account: 'HbYjRzx7teCxqW3unpXBEcNHhfVZvW2vW9MQ99TkizWt',
    remainder: -176543n,
    reason: CLAIMED_FEES
  },
  {
    signature: '62ZhYXL9NDQfkJZruVCQAgtzAE7nhNKN859N1Rm58uEdFp7HF2tikZUfb9G2NeMuxRu9dG9GmEqCZ36osakVcFD7',
    account: '3KGotDRmG7D7vyNYtQGC9468azds4QnTwVyEB2TPsCVX',
    remainder: -77154404n,
    reason: CLAIMED_FEES
  },
  {
    signature: '5HzJs4E3KobYW4dfDAvxzuUPriKdK71iPG7g7w3VQBC1bgpQmHjeevkBBmp8WFf3FeosqMkcgSHV5LPqwDfmvr2X',
    account: '3DZg4BbkBj8GKEXXXRtu6wUunpCAth6n8gZur9Dronvt',
    remainder: -85694n,
    reason: FEES_WITH_LIQUIDITY
  },
  {
    signature: '3USu3YAsg2qBXKmMqZg4UUgJLj9yNmwQ2oyewmbZ1WtyqWmhGhd2B7aru976UCkEjV1w9AR8XjSpE1WxmCy81aKf',
    account: 'GD5tL7DJZKqendD9c14zKQJM5VkQfYRppp5NAxp91YS7',
    remainder: 8186903n,
    reason: KEPT_FEES
  },
  {
    signature: '4Q5xBVHJyponVkkLWmCEjoFKRntZBhY8J19YrrkZ4xUSAmTu2N1cZDHwMP6H1KXH7KbufAUQzXbdh2sXXJt1HQKX',
    account: 'GEr2mdQsKNrCMfdcZUTaio4dFEmoXXL3qqQojeKrxoR5',
    remainder: 21329n,
    reason: KEPT_FEES
  },
  {
    signature: '5LzhiGZB462sKGLhav13z3KUjjN6EhT9y21F4e4hKpsggFj6bseibkmPP7qXMnac6uDuKZZpdwDcbDqP3YHUXRVp',
    account: 'J6aSDGwgVpknJGQ7sNi7s6ibBydhCKVvqbvWZ1PRhULr',
    remainder: 25000n,
    reason: KEPT_FEES
  },
  {
    signature: 'mqSGNwKK8GZW7PztnYDat3F85BWf7JRWfm5k4ToKpKzkoGmQgyr2bwpm47md7jLck4Yc7pmXuciE73Tf8dT74u8',
    account: 'FY85BxnA7VWDTd1yV96a3oU4Um5MguQUdW7seZAV2QzQ',
    remainder: 10000000n,
    reason: KEPT_FEES
  },
  {
    signature: '2s393PSYYxJJJfGiwHf18HZeC68nZs44ssbeB4aAkeYMyd1dyiiu3yVmGyRWZuArk5HzYDgVxYfhKLYd2CJ8kCBj',
    account: 'CQrqvWERJtEjw2rCCQV6EqfM6V6jzTuKjhJjKNFmGB7r',
    remainder: 1231920n,
    reason: RENT
  },
  {
    signature: '3sWBncNG3ZKjVh5DE5TGpbiavBTyBLb8h5H7hPaLaFhirbJArCru7eLXLL7M9TWAEUBBUAoHZkX2uqyYj5ij9Z7',
    account: '52EdRamuJQsj94DnpLBguCfXx8cGbyJiFBL5n1hmP5Ln',
    remainder: 1231920n,
    reason: RENT
  },
  {
    signature: '52ar89rghM8EwKZkxFnBMC4LaMReqtVdpxqXxGWBCMYV1DnYdLrdsqJo8Hbn9KjVpckAokqGNHzTSVfK5xuLepdC',
    account: 'FFzxakVNzpirwMFtLyD22UZ6UM3KLF2EAGC2RxNPaYoH',
    remainder: 1231920n,
    reason: RENT
  },
  {
    signature: 'a9tyifZay3w5j6yL7egpNxxBsQFTuvQHKf3XHjnLY2QToVDjnyT5gPLjbJ2qSXmVPGJzEpEZmgJZ6qQXS99p1JH',
    account: 'CWZtLfpfZpgyR96bwDszjC7ecm1vJQPzvvgwA5VusWZg',
    remainder: 1454640n,
    reason: RENT
  },
  {
    signature: 'k1LPbZb3E4mkVabxy9F11p8CGjzug6vzn6rbZHFmEmFfXPBv9Z398TqmYFeXXDGSmEXGM7eeGffA8DsV6ePkZvC',
    account: 'HRZ1FDpX1nmXr4VBQ7F4Map3qyADC2VvyXNTTQAKTPHU',
    remainder: 1231920n,
    reason: RENT
  },
  {
    signature: '62ZhYXL9NDQfkJZruVCQAgtzAE7nhNKN859N1Rm58uEdFp7HF2tikZUfb9G2NeMuxRu9dG9GmEqCZ36osakVcFD7',
    account: 'HpdzsJNWmStGq29k22P1W7m7ZdpKXnHNExmiRkZekBtK',
    remainder: -65438436n,
    reason: CLAIMED_FEES
  },
  {
    signature: '5HzJs4E3KobYW4dfDAvxzuUPriKdK71iPG7g7w3VQBC1bgpQmHjeevkBBmp8WFf3FeosqMkcgSHV5LPqwDfmvr2X',
    account: '7bDUUvfSXFQAomGc4W9pUQt1UVrF485TVUP9iSM4d4u1',
    remainder: -7912976n,
    reason: FEES_WITH_LIQUIDITY
  }
]

/** Traders whose own balances differ from their trades, with the reason. */
export const REVIEWED_TRADERS: readonly { readonly signature: string; readonly reason: string }[] = [
  {
    signature: 'k1LPbZb3E4mkVabxy9F11p8CGjzug6vzn6rbZHFmEmFfXPBv9Z398TqmYFeXXDGSmEXGM7eeGffA8DsV6ePkZvC',
    reason:
      'The second of two purchases, of 3133762240070, went to the account of another wallet that the buyer paid for.'
  },
  {
    signature: '5QBqQcPw7NcV9zECiqkciUvEufJP7z3M9WkbckgjS3HnVumQu4A9FH5QfVE9zSLyiMbkXGDaoPEpxNkqZ6xqmGZo',
    reason:
      "The referral fee of 3013 and the host fee of 9355, which the pools paid beside the fills, reached the trader's own account."
  },
  {
    signature: '3ppcehQ8zEhkuGvYmNhAo9H9spHPmACqNvEgAL2qvDhWLUHg4QyiomUYtRtXYAgajivmaMtriB9oxq7yz3aH8DH2',
    reason:
      "A round trip of a program's own funds; its second leg is through a program that is no venue of ours."
  }
]
