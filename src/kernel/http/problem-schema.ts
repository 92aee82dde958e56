import { z } from 'zod'
import { ERRORS } from '../errors.ts'

const CODES = [...new Set(Object.values(ERRORS).map(({ code }) => code))]

/** A problem as clients read it (RFC 9457, src/docs/endpoints.md). */
export const PROBLEM = z
  .object({
    type: z.string().describe('The kind of problem, as the URL of a page that explains it'),
    title: z.string().describe('The kind of problem, for people'),
    status: z.int().min(400).max(599).describe('The HTTP status'),
    detail: z.string().describe('The fault of this request, in words'),
    code: z.enum(CODES).describe('The kind of problem, for programs: codes are stable'),
    request_id: z.string().describe('The `X-Request-Id` of the response, to quote to the operator'),
    errors: z
      .array(
        z.object({
          field: z.string().describe('A parameter, or a path of names into the body'),
          message: z.string().describe('The fault of the field, in words')
        })
      )
      .optional()
      .describe('Every wrong field, if there are several'),
    'violated-policies': z
      .array(z.string())
      .optional()
      .describe('The exceeded quotas, by their names in `RateLimit-Policy`'),
    limit: z.int().optional().describe('Calls that the exceeded quota allows in a window'),
    window_seconds: z.int().optional().describe('Length of its window in seconds'),
    retry_after: z.int().optional().describe('Seconds until its next window begins'),
    err: z.unknown().optional().describe('With `preflight_failed`: the error, as in JSON-RPC'),
    logs: z.array(z.string()).optional().describe('With `preflight_failed`: the log of the programs'),
    units_consumed: z
      .int()
      .nullable()
      .optional()
      .describe(
        'With `preflight_failed`: compute units until the failure; null if the node does not report them'
      )
  })
  .meta({ id: 'Problem', description: 'Why a request was refused or failed' })
