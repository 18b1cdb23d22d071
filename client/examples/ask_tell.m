% Ask for one point and tell its cost from MATLAB (R2016b or newer), with webwrite alone.
% Needs a service, `geodrome serve`; its address is GEODROME_URL, or http://127.0.0.1:8100.
% Where it wants a key, GEODROME_KEY is one.
base = getenv('GEODROME_URL');
if isempty(base)
    base = 'http://127.0.0.1:8100';
end
studies = [base '/v1/studies'];

% A point of one number is encoded as a bare number; the service takes that too.
space = struct('type', 'rotation', 'representation', 'matrix');
body = struct('name', 'flange-orientation', 'space', space, 'if_exists', 'load');
webwrite(studies, body, request());

% One key for one ask: the repeats of a 202 ("not ready") get the same trial.
options = request();
asked = webwrite([studies '/flange-orientation/ask'], struct('worker', 'flange-1'), options);
while ~isfield(asked, 'trials')
    pause(1);
    asked = webwrite([studies '/flange-orientation/ask'], struct('worker', 'flange-1'), options);
end
trial = asked.trials(1);
R = trial.point;  % 3 x 3, row by row: R(i, j) is row i, column j

% Here the flange turns and something is measured.
cost = acos(max(-1, min(1, (trace(R) - 1) / 2)));  % rad

% A NaN is encoded as null, and the service refuses it: tell a run without a cost as
% struct('outcome', 'failed', 'reason', 'joint limit').
url = sprintf('%s/flange-orientation/trials/%d/tell', studies, trial.number);
told = webwrite(url, struct('cost', cost), request());
fprintf('trial %d is %s, cost %g\n', told.number, told.state, told.cost);

function options = request()
    fields = {'Idempotency-Key', char(java.util.UUID.randomUUID())};
    if ~isempty(getenv('GEODROME_KEY'))
        fields = [fields; {'Authorization', ['Bearer ' getenv('GEODROME_KEY')]}];
    end
    options = weboptions('MediaType', 'application/json', 'ContentType', 'json', ...
                         'HeaderFields', fields, 'Timeout', 45);
end
