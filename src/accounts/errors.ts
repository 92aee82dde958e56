import { errorKinds, final } from '../kernel/error-kind.ts'

/** Errors of data from accounts. */
export const ACCOUNT_ERRORS = errorKinds({
  TOKEN_IMAGE_NOT_FOUND: final(404, 'token_image_not_found', 'Token image not found', {
    meaning:
      'The metadata of the token names no image, or what it names is not an image that the service passes on.',
    remedy:
      'Nothing: its creator chose the image. PNG, JPEG, GIF and WebP of at most 1 MiB and 4,096 pixels in width and height are passed on.',
    example: 'the metadata of this token names no image'
  })
})
