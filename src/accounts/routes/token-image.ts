import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Pubkey } from '../../chain/pubkey.ts'
import { DATA_ERRORS } from '../../data/errors.ts'
import { statedNames } from '../../data/routes/stated-names.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { address } from '../../kernel/http/parameters.ts'
import { Rendering } from '../../kernel/http/rendering.ts'
import { serve } from '../../kernel/http/serve.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { WSOL } from '../../market/cash.ts'
import { fromNode } from '../../node/upstream.ts'
import { ACCOUNT_ERRORS } from '../errors.ts'
import { mergedNames } from '../bodies/metadata.ts'
import { NODE_DEADLINE_MS } from './account-services.ts'
import type { AccountNeeds } from './needs.ts'

/** The read of the mint, then 0.5 s for the JSON at its URI, then 3 s for the image. */
const IMAGE_DEADLINE_MS = NODE_DEADLINE_MS + 4_000

export const tokenImage = endpoint({
  path: '/v1/tokens/{mint}/image',
  tag: 'Tokens',
  summary: 'Image of a token',
  description:
    'The image that the JSON at the `uri` of a mint names: a PNG, JPEG, GIF or WebP of at most 1 MiB. The service fetches it and caches it for a day. Its creator chose it, and its content is not verified. Needs `MILLRACE_TOKEN_IMAGES`.',
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  answer: z.string().meta({ format: 'binary' }).describe('The bytes of the image'),
  mediaType: 'image/*',
  errors: [
    DATA_ERRORS.TOKEN_NOT_FOUND,
    ACCOUNT_ERRORS.TOKEN_IMAGE_NOT_FOUND,
    ERRORS.UPSTREAM_ERROR,
    ERRORS.UPSTREAM_TIMEOUT,
    ERRORS.NOT_CONFIGURED
  ],
  examples: [{ name: 'Wrapped SOL', params: { mint: WSOL } }],
  deadlineMs: IMAGE_DEADLINE_MS
})

/** A host chose the bytes: a browser that opens them as a document runs nothing. */
const HEADERS = [
  ...['cache-control', 'private, max-age=3600'],
  ...['content-security-policy', "default-src 'none'; sandbox"]
] as const

export const tokenImageRoutes: FastifyPluginAsync<
  Pick<AccountNeeds, 'accounts' | 'storage' | 'cash' | 'clock'>
> = async (app, deps) => {
  const { accounts } = deps
  if (accounts === null) return

  /** Returns the URI of a mint's JSON; null if it states none. */
  const uriOf = async (mint: Pubkey): Promise<string | null> => {
    const [known] = await fromNode(accounts.mints.read([mint]))
    const { reading } = known!
    if (reading.kind === 'refused')
      throw new ServiceError(
        DATA_ERRORS.TOKEN_NOT_FOUND,
        `this address is not a mint: its account ${reading.reason}`
      )
    return mergedNames(reading, await statedNames(deps, reading)).uri
  }

  serve(app, tokenImage, async ({ params: { mint } }) => {
    const { offChain, images } = accounts
    if (offChain === null || images === null)
      throw new ServiceError(
        ERRORS.NOT_CONFIGURED,
        'token images are not fetched: the operator has not set MILLRACE_TOKEN_IMAGES'
      )
    const uri = await uriOf(mint)
    const [stated] = uri === null || uri === '' ? [] : await offChain.read([uri])
    if (stated?.kind === 'pending') throw pending('the metadata')
    const url = stated?.kind === 'read' ? stated.fields.image : null
    if (url === null)
      throw new ServiceError(
        ACCOUNT_ERRORS.TOKEN_IMAGE_NOT_FOUND,
        stated?.kind === 'failed'
          ? `the metadata of this token could not be read: ${stated.error}`
          : 'the metadata of this token names no image'
      )
    const reading = await images.read(url)
    if (reading.kind === 'pending') throw pending('the image')
    if (reading.kind === 'failed')
      throw new ServiceError(
        ACCOUNT_ERRORS.TOKEN_IMAGE_NOT_FOUND,
        `the image of this token could not be read: ${reading.error}`
      )
    const { mediaType, bytes } = reading.image
    return new Rendering(bytes, { mediaType, fields: HEADERS })
  })
}

const pending = (what: string): ServiceError =>
  new ServiceError(ERRORS.UPSTREAM_TIMEOUT, `${what} of this token is being fetched; repeat the request`)
