// Tables of a comparison sort and copy. For: compare.html.j2. Not for: how (run_page/tables.js).
'use strict';

equipAll();
