'use client';

/** The answer to an action was lost. The server may have charged; only it can tell. */
export default function Lost() {
  return (
    <>
      <p role="status">Not sure yet whether you have paid.</p>
      <button type="button" onClick={() => location.reload()}>
        Look
      </button>
    </>
  );
}
