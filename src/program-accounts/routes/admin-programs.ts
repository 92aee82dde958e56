import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { programAnswer, programBody, removedProgramAnswer } from '../program-bodies.ts'
import { listOf } from '../../kernel/http/schema.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { DATA_BYTES_MAX } from '../account-filters.ts'
import { sameRange } from '../indexed-filters.ts'
import { INDEXES_MAX, PROGRAMS_MAX } from '../program.ts'
import { INDEXED_BYTES_MAX } from '../../../storage/port.ts'
import { Whitelist } from '../whitelist.ts'
import type { ProgramAccountNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_PROGRAM } from '../../edge/routes/example-values.ts'
import { address } from '../../kernel/http/parameters.ts'
import { PROGRAM_ERRORS } from '../errors.ts'
import { ERRORS } from '../../kernel/errors.ts'

const END_MESSAGE = `must end within ${DATA_BYTES_MAX} bytes, the most that an account has`
const LENGTH_MESSAGE = `must be a whole number between 1 and ${INDEXED_BYTES_MAX}`

const index = z
  .array(
    z
      .strictObject({
        offset: z.int().min(0).describe('Offset in the data'),
        length: z
          .int(LENGTH_MESSAGE)
          .min(1, LENGTH_MESSAGE)
          .max(INDEXED_BYTES_MAX, LENGTH_MESSAGE)
          .describe('Number of bytes')
      })
      .refine(({ offset, length }) => offset + length <= DATA_BYTES_MAX, END_MESSAGE)
  )
  .max(INDEXES_MAX, `must be at most ${INDEXES_MAX} ranges`)
  .refine(
    (ranges) => ranges.every((each, i) => !ranges.slice(0, i).some((other) => sameRange(each, other))),
    'must be different ranges'
  )
  .describe(
    'Byte ranges of the account data to index. Default for a new token program: mint and owner. Default for any other new program: none'
  )

export const listPrograms = endpoint({
  path: '/v1/admin/programs',
  tag: 'Administration',
  summary: 'List mirrored programs',
  description: `The whitelist of programs whose accounts are mirrored, with the progress of each: at most ${PROGRAMS_MAX}.`,
  scope: 'admin',
  answer: listOf(programAnswer),
  examples: [{ name: 'all programs' }]
})

export const addProgram = endpoint({
  method: 'POST',
  path: '/v1/admin/programs',
  tag: 'Administration',
  summary: 'Mirror a program',
  description:
    'Adds a program to the whitelist. Its accounts are read from the node in the background. If the program is already there, the answer is 200. `index` then replaces its indexes, and new ones are built in the background.',
  scope: 'admin',
  body: z.object({ program: address.describe('The program, base58'), index: index.optional() }),
  status: 201,
  otherStatuses: [200],
  answer: programAnswer,
  isIdempotent: true,
  leavesWork: true,
  shownBy: 'GET /v1/admin/programs',
  errors: [ERRORS.ADDRESS_INVALID, PROGRAM_ERRORS.PROGRAM_LIMIT_REACHED],
  examples: [
    { name: 'a program', body: { program: EXAMPLE_PROGRAM } },
    {
      name: 'a program with an index of its accounts',
      body: { program: EXAMPLE_PROGRAM, index: [{ offset: 32, length: 32 }] }
    }
  ]
})

export const removeProgram = endpoint({
  method: 'DELETE',
  path: '/v1/admin/programs/{program}',
  tag: 'Administration',
  summary: 'Remove a mirrored program',
  description: 'Takes a program off the whitelist and deletes its mirrored accounts.',
  scope: 'admin',
  params: z.object({ program: address.describe('The program, base58') }),
  answer: removedProgramAnswer,
  shownBy: 'GET /v1/admin/programs',
  errors: [ERRORS.ADDRESS_INVALID, PROGRAM_ERRORS.PROGRAM_NOT_FOUND],
  examples: [{ name: 'a program', params: { program: EXAMPLE_PROGRAM } }]
})

export const adminProgramRoutes: FastifyPluginAsync<
  Pick<ProgramAccountNeeds, 'storage' | 'feed' | 'clock' | 'programsChanged'>
> = async (app, { storage, feed, clock, programsChanged }) => {
  const whitelist = new Whitelist(storage.documents)
  const head = (): number | null => feed.head?.slot ?? null

  serve(app, listPrograms, async () => {
    const data = (await whitelist.list()).map((status) => programBody(status, head()))
    return { data, nextCursor: null }
  })

  serve(app, addProgram, async ({ body, reply, once }) => {
    const program = pubkeyToBase58(body.program)
    // A repeat of the request changes nothing more.
    const add = () => whitelist.add(program, clock.now(), body.index)
    const { isNew, status } = await once({ program, index: body.index }, async () => program, add)
    if (isNew || body.index !== undefined) programsChanged?.()
    if (!isNew) void reply.code(200)
    return programBody(status, head())
  })

  serve(app, removeProgram, async ({ params }) => {
    const program = pubkeyToBase58(params.program)
    await whitelist.remove(program)
    programsChanged?.()
    return { program, deleted: true as const }
  })
}
